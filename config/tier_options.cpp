#include "config/tier_options.hpp"

#include "config/options.hpp"

#include <algorithm>

namespace troupe::config {

const tier_options& limits_of(const options& all, tier which) {
  switch (which) {
    case tier::same_host: return all.tier_same_host;
    case tier::same_rack: return all.tier_same_rack;
    case tier::same_zone: return all.tier_same_zone;
    case tier::cross_zone: return all.tier_cross_zone;
    case tier::cross_data_center: return all.tier_cross_data_center;
    case tier::unknown: return all.tier_unknown;
  }
  return all.tier_unknown;
}

std::uint64_t lane_bytes_of(const options& all, tier which) {
  const tier_options& limits = limits_of(all, which);
  if (limits.lane_bytes != 0) return limits.lane_bytes;
  return std::max(most_bytes_of(limits) / all.transport.data_lane_count, limits.segment_bytes);
}

std::uint64_t lease_bytes_of(const options& all, tier which) {
  const tier_options& limits = limits_of(all, which);
  const std::uint64_t write = std::max(limits.segment_bytes, limits.bytes / limits.write_count);
  return std::max(write, std::min(limits.bytes / 8, all.dqplb.lease_bytes));
}

std::uint64_t most_bytes_of(const tier_options& limits) {
  return limits.cap == "adaptive" ? 4 * limits.bytes : limits.bytes;
}

}  // namespace troupe::config
