// What `parse_rank_dump` takes it writes again as something that it takes: files of dumps come from
// other hosts and other versions.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/assert.hpp"
#include "runtime/rank_dump_json.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = troupe::parse_rank_dump(text);
  if (!read) return 0;
  const auto again = troupe::to_json(*read);
  const auto twice = troupe::parse_rank_dump(again);
  TROUPE_ASSERT(twice.has_value());
  TROUPE_ASSERT(troupe::to_json(*twice) == again);
  return 0;
}
