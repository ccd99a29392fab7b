// Frames of a queue pair and greetings beside it from a stranger: nothing may crash, and what
// decodes must encode to the same bytes and stay within what the format allows.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "net/verbs/verbs_frame_wire.hpp"
#include "net/verbs/verbs_greeting_wire.hpp"
#include "runtime/assert.hpp"
#include "runtime/lane.hpp"

namespace {

using namespace troupe;
using namespace troupe::net;

void try_frame(std::span<const std::byte> bytes) {
  const auto frame = decode_verbs_frame(bytes);
  if (!frame) return;
  const auto length = header_bytes(frame->what);
  TROUPE_ASSERT(bytes.size() >= length);
  TROUPE_ASSERT(bytes.size() - length <= lane_message_bytes_max);
  std::array<std::byte, verbs_frame_header_bytes_max> again{};
  TROUPE_ASSERT(encode(*frame, again) == length);
  TROUPE_ASSERT(std::equal(again.begin(), again.begin() + static_cast<std::ptrdiff_t>(length),
                           bytes.begin()));
}

void try_greeting(std::span<const std::byte> bytes) {
  const auto greeting = decode_verbs_greeting(bytes);
  if (!greeting) return;
  const auto again = encode(*greeting);
  TROUPE_ASSERT(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try_frame(bytes);
  try_greeting(bytes);
  return 0;
}
