#include "runtime/place.hpp"

namespace troupe {

namespace {

constexpr std::uint64_t fnv_start = 0xcbf2'9ce4'8422'2325ull;

// FNV-1a. The end of a name goes in as well: ("ab", "c") and ("a", "bc") are different places.
std::uint64_t extended(std::uint64_t hash, std::string_view name) {
  for (const char c : name)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100'0000'01b3ull;
  return (hash ^ 0xffu) * 0x100'0000'01b3ull;
}

std::uint32_t number_of(std::uint64_t hash) {
  const auto folded = static_cast<std::uint32_t>(hash ^ hash >> 32);
  return folded == 0 ? 1 : folded;
}

tl::unexpected<failure> incomplete(std::string_view level, const std::string& name,
                                   std::string_view wider) {
  return fail(errc::bad_argument, "place: " + std::string(level) + " \"" + name +
                                      "\" is named and its " + std::string(wider) +
                                      " is not: name that, too");
}

bool same(std::uint32_t here, std::uint32_t there) {
  return here != 0 && here == there;
}

}  // namespace

outcome<void> check_place(const place& where) {
  if (!where.rack.empty() && where.zone.empty()) return incomplete("rack", where.rack, "zone");
  if (!where.zone.empty() && where.data_center.empty())
    return incomplete("zone", where.zone, "data centre");
  return {};
}

place_code code_of(const place& where) {
  place_code code;
  auto hash = extended(fnv_start, where.data_center);
  if (!where.data_center.empty()) code.data_center = number_of(hash);
  hash = extended(hash, where.zone);
  if (!where.zone.empty()) code.zone = number_of(hash);
  hash = extended(hash, where.rack);
  if (!where.rack.empty()) code.rack = number_of(hash);
  if (!where.host.empty()) code.host = number_of(extended(fnv_start, where.host));
  return code;
}

std::string_view to_string(tier which) {
  switch (which) {
    case tier::same_host: return "same_host";
    case tier::same_rack: return "same_rack";
    case tier::same_zone: return "same_zone";
    case tier::cross_zone: return "cross_zone";
    case tier::cross_data_center: return "cross_data_center";
    case tier::unknown: return "unknown";
  }
  return "unknown";
}

tier tier_between(const place_code& here, const place_code& there) {
  if (here.host != 0 && here == there) return tier::same_host;
  if (here.data_center == 0 || there.data_center == 0) return tier::unknown;
  if (here.data_center != there.data_center) return tier::cross_data_center;
  if (!same(here.zone, there.zone)) return tier::cross_zone;
  if (!same(here.rack, there.rack)) return tier::same_zone;
  return tier::same_rack;
}

}  // namespace troupe
