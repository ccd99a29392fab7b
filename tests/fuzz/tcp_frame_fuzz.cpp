// Frame headers of a tcp lane from a stranger: nothing may crash, and what decodes must encode to
// the same bytes and stay within what the format allows.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "net/tcp/tcp_frame_wire.hpp"
#include "runtime/assert.hpp"
#include "runtime/lane.hpp"

namespace {

using namespace troupe;
using namespace troupe::net;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto needed = header_bytes_of(bytes);
  TROUPE_ASSERT(needed <= tcp_write_header_bytes);
  const auto frame = decode(bytes);
  if (!frame) return 0;
  TROUPE_ASSERT(size >= needed);
  TROUPE_ASSERT(header_bytes(frame->what) == needed);
  const bool is_message = frame->what == tcp_frame::kind::message;
  TROUPE_ASSERT(frame->bytes <= (is_message ? lane_message_bytes_max : tcp_write_bytes_max));
  std::array<std::byte, tcp_write_header_bytes> again{};
  TROUPE_ASSERT(encode(*frame, again) == needed);
  TROUPE_ASSERT(std::equal(again.begin(), again.begin() + static_cast<std::ptrdiff_t>(needed),
                           bytes.begin()));
  return 0;
}
