// Frame headers and greetings of a shm lane from a stranger: nothing may crash, and what decodes
// must encode to the same bytes and stay within what the format allows.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "net/shm/shm_frame_wire.hpp"
#include "net/shm/shm_greeting_wire.hpp"
#include "runtime/assert.hpp"
#include "runtime/lane.hpp"

namespace {

using namespace troupe;
using namespace troupe::net;

std::uint64_t longest(shm_frame::kind what) {
  switch (what) {
    case shm_frame::kind::message: return lane_message_bytes_max;
    case shm_frame::kind::inline_write: return shm_inline_bytes_max;
    case shm_frame::kind::source_write: return shm_write_bytes_max;
  }
  return 0;
}

void try_frame(std::span<const std::byte> bytes) {
  const auto frame = decode_shm_frame(bytes);
  if (!frame) return;
  const auto length = header_bytes(frame->what);
  TROUPE_ASSERT(bytes.size() >= length);
  TROUPE_ASSERT(frame->bytes <= longest(frame->what));
  TROUPE_ASSERT(ring_bytes_of(frame->what, frame->bytes) % shm_frame_alignment == 0);
  std::array<std::byte, shm_source_header_bytes> again{};
  TROUPE_ASSERT(encode(*frame, again) == length);
  TROUPE_ASSERT(std::equal(again.begin(), again.begin() + static_cast<std::ptrdiff_t>(length),
                           bytes.begin()));
}

void try_greeting(std::span<const std::byte> bytes) {
  const auto greeting = decode_shm_greeting(bytes);
  if (!greeting) return;
  const auto again = encode(*greeting);
  TROUPE_ASSERT(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()));
  if (greeting->what == shm_greeting::kind::segment) TROUPE_ASSERT(is_valid(greeting->sizes));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try_frame(bytes);
  try_greeting(bytes);
  return 0;
}
