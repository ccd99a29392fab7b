#include "net/link/lane_set.hpp"

namespace troupe::net {

bool lane_set::any_open() const {
  for (std::uint8_t lane = 0; lane < count; ++lane) {
    if (records[lane].open) return true;
  }
  return false;
}

std::uint8_t lane_set::lowest_greeted() const {
  for (std::uint8_t lane = 0; lane < count; ++lane) {
    if (records[lane].open && records[lane].greeted) return lane;
  }
  return no_lane;
}

std::uint8_t lane_set::lowest_for_control() const {
  const auto greeted = lowest_greeted();
  if (greeted != no_lane) return greeted;
  for (std::uint8_t lane = 0; lane < count; ++lane) {
    if (records[lane].open) return lane;
  }
  return no_lane;
}

std::uint8_t lane_set::pick_for_eager() const {
  for (std::uint8_t lane = 0; lane < count; ++lane) {
    if (records[lane].has_room()) return lane;
  }
  return no_lane;
}

std::uint8_t lane_set::pick_for_data(const lane_limits& limits) {
  bool any_usable = false;
  for (std::uint8_t tried = 1; tried < count; ++tried) {
    const auto lane = next_data;
    next_data = static_cast<std::uint8_t>(next_data + 1 < count ? next_data + 1 : 1);
    if (records[lane].has_room(limits)) return lane;
    any_usable = any_usable || records[lane].usable();
  }
  return !any_usable && records[0].has_room(limits) ? std::uint8_t{0} : no_lane;
}

}  // namespace troupe::net
