#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "net/wire/control_wire.hpp"
#include "runtime/assert.hpp"

// Any bytes are a control message or an error, and what is a message encodes to the same bytes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace troupe::net;
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto message = decode_control(bytes);
  if (!message) {
    const auto code = message.error().code;
    const bool expected = code == troupe::errc::malformed || code == troupe::errc::version_mismatch;
    TROUPE_ASSERT(expected);
    return 0;
  }
  std::array<std::byte, control_bytes_max> again{};
  const auto length = encode(message->body, std::span(again).last<control_body_bytes_max>());
  encode(kind_of(message->body), message->header, std::span(again).first<control_header_bytes>());
  TROUPE_ASSERT(std::ranges::equal(std::span(again).first(control_header_bytes + length), bytes));
  return 0;
}
