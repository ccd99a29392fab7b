#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "net/link/receive_window.hpp"
#include "net/wire/eager_wire.hpp"
#include "net/wire/immediate_wire.hpp"
#include "runtime/assert.hpp"

namespace {

using namespace troupe::net;

// Any 64 bytes are an eager header or an error, and a header encodes to the same bytes.
void check_eager_header(std::span<const std::byte> bytes) {
  const auto header = decode_eager_header(bytes);
  if (!header) return;
  std::array<std::byte, eager_header_bytes> again{};
  encode(*header, again);
  TROUPE_ASSERT(std::ranges::equal(again, bytes.first(eager_header_bytes)));
}

// Any stream of immediates leaves the window whole: a number counts once, and never beyond.
void check_window(std::span<const std::byte> bytes) {
  receive_window window(16, sequence{sequence_mask - 5});
  std::size_t arrived = 0;
  for (; bytes.size() >= 4; bytes = bytes.subspan(4)) {
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      word |= std::to_integer<std::uint32_t>(bytes[i]) << (8 * i);
    }
    auto immediate = decode_immediate(word);
    TROUPE_ASSERT(encode(immediate) == word);
    // Near the base, or nothing would ever be fresh.
    immediate.number = advance(window.base(), word & 0x1fu);
    const auto before = window.base();
    if (window.classify(immediate.number) == receive_window::verdict::fresh) {
      window.note(immediate);
      ++arrived;
      TROUPE_ASSERT(window.classify(immediate.number) == receive_window::verdict::duplicate);
    }
    while (window.release()) {
    }
    TROUPE_ASSERT(distance(before, window.base()) <= 16);
    TROUPE_ASSERT(window.span_count() <= 16);
  }
  TROUPE_ASSERT(distance(sequence{sequence_mask - 5}, window.base()) <= arrived);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  check_eager_header(bytes);
  check_window(bytes);
  return 0;
}
