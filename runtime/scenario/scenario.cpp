#include "runtime/scenario/scenario.hpp"

#include <algorithm>

namespace troupe::scenario {

distance topology::between(std::uint32_t a, std::uint32_t b) const {
  if (host_of(a) == host_of(b)) return distance::same_host;
  if (rack_of(a) == rack_of(b)) return distance::same_rack;
  if (zone_of(a) == zone_of(b)) return distance::same_zone;
  if (data_center_of(a) == data_center_of(b)) return distance::cross_zone;
  return distance::cross_data_center;
}

bool script::plays_in(world_kind where) const {
  return std::find(worlds.begin(), worlds.end(), where) != worlds.end();
}

}  // namespace troupe::scenario
