#pragma once

#include <cstdint>

#include "runtime/strong_types.hpp"

namespace troupe::net {

/// Who registers with whom. Up to `fan_out` ranks: all with rank 0. Above: groups of `fan_out`
/// consecutive ranks register with their leader, leaders with rank 0, so that nobody holds more
/// than `fan_out` registrations. Two levels reach fan_out^2 ranks.
struct rendezvous_plan {
  std::uint32_t world_size = 1;
  std::uint32_t fan_out = 1024;

  constexpr bool is_tree() const { return world_size > fan_out; }
  constexpr bool fits() const {
    return fan_out >= 2 && world_size <= std::uint64_t{fan_out} * fan_out;
  }
  constexpr std::uint32_t group_count() const {
    return world_size / fan_out + (world_size % fan_out != 0 ? 1 : 0);
  }
  constexpr std::uint32_t group_of(rank r) const { return r.value / fan_out; }
  constexpr rank first_of(std::uint32_t group) const { return {group * fan_out}; }
  constexpr std::uint32_t size_of(std::uint32_t group) const {
    const std::uint32_t rest = world_size - group * fan_out;
    return rest < fan_out ? rest : fan_out;
  }
  /// The first of the group; in the first group the second, because rank 0 serves the leaders.
  constexpr rank leader_of(std::uint32_t group) const {
    return group == 0 ? rank{1} : first_of(group);
  }
  constexpr bool is_leader(rank r) const {
    return is_tree() && r.value < world_size && leader_of(group_of(r)) == r;
  }
  constexpr rank successor_of(rank r) const {
    return {r.value + 1 == world_size ? 0 : r.value + 1};
  }
  constexpr rank predecessor_of(rank r) const {
    return {r.value == 0 ? world_size - 1 : r.value - 1};
  }
};

}  // namespace troupe::net
