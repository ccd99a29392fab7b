#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "runtime/strong_types.hpp"

namespace troupe::actors {

/// Who is in a communicator: the world rank of each member, and back. The world itself stores
/// nothing; a split costs 4 bytes a member and a hash entry.
class membership {
 public:
  /// Every rank of the world, in order.
  static membership world(std::uint32_t size) {
    membership m;
    m.size_ = size;
    return m;
  }

  static membership of(std::vector<rank> world_ranks) {
    membership m;
    m.size_ = static_cast<std::uint32_t>(world_ranks.size());
    m.world_ranks_ = std::move(world_ranks);
    m.members_.reserve(m.size_);
    for (std::uint32_t i = 0; i < m.size_; ++i)
      m.members_.emplace(m.world_ranks_[i].value, i);
    return m;
  }

  std::uint32_t size() const { return size_; }

  /// Every rank of the world under its own number.
  bool is_world() const { return world_ranks_.empty(); }

  rank to_world(rank member) const {
    return world_ranks_.empty() ? member : world_ranks_[to_index(member)];
  }

  std::optional<rank> from_world(rank world) const {
    if (world_ranks_.empty())
      return world.value < size_ ? std::optional<rank>(world) : std::nullopt;
    const auto found = members_.find(world.value);
    if (found == members_.end()) return std::nullopt;
    return rank{found->second};
  }

 private:
  std::uint32_t size_ = 0;
  std::vector<rank> world_ranks_;
  std::unordered_map<std::uint32_t, std::uint32_t> members_;
};

}  // namespace troupe::actors
