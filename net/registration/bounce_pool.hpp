#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace troupe::net {

/// Places in a block of registered memory, through which bytes are copied whose own memory the
/// devices do not know (yet). Bounded: when all places are taken, whoever wants one waits.
class bounce_pool {
 public:
  bounce_pool(std::uint64_t place_bytes, std::uint32_t place_count);

  std::uint64_t place_bytes() const { return place_bytes_; }

  /// Offset of a free place in the block; none if all are taken.
  std::optional<std::uint64_t> take();

  /// The place at `offset`, which `take` gave, is free again.
  void give_back(std::uint64_t offset);

  std::uint32_t taken_count() const { return taken_count_; }
  std::uint32_t taken_count_max() const { return taken_count_max_; }
  std::uint64_t refused_total() const { return refused_total_; }

 private:
  std::uint64_t place_bytes_;
  std::vector<std::uint32_t> free_;
  std::vector<bool> taken_;
  std::uint32_t taken_count_ = 0;
  std::uint32_t taken_count_max_ = 0;
  std::uint64_t refused_total_ = 0;
};

}  // namespace troupe::net
