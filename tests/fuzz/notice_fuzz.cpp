// Notices and fetches that a peer's endpoint sends over a link: nothing may crash, and what decodes
// must encode to the same bytes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "actors/rank/failure_notice_wire.hpp"
#include "actors/rank/fetch_wire.hpp"
#include "actors/rank/membership_carrier.hpp"
#include "runtime/assert.hpp"

namespace {

using namespace troupe;
using namespace troupe::actors;

void must_equal(const notice_frame& again, std::span<const std::byte> bytes) {
  const auto view = again.view();
  TROUPE_ASSERT(std::equal(view.begin(), view.end(), bytes.begin(), bytes.end()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  if (const auto wanted = decode_fetch(bytes)) {
    TROUPE_ASSERT(is_fetch(bytes));
    must_equal(encode(*wanted), bytes);
  }
  if (const auto heard = decode_notice(bytes)) {
    TROUPE_ASSERT(!is_fetch(bytes) && !is_part(bytes));
    // A text that is longer than what fits was never encoded; it comes back cut.
    if (bytes.size() <= notice_frame_bytes_max) must_equal(encode(*heard), bytes);
  }
  frame_assembler parts;
  if (const auto whole = parts.add(bytes); whole && *whole)
    TROUPE_ASSERT(is_part(bytes) && (*whole)->size() < bytes.size());
  return 0;
}
