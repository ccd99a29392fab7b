#pragma once

#include <array>
#include <cstdint>

#include "net/verbs/verbs_frame_wire.hpp"

namespace troupe::net {

/// What a device of a peer said its keys expose. Keeps as many as it has places; a key that has
/// lost its place to another is asked for again.
class region_directory {
 public:
  /// Null: not known.
  const verbs_remote_memory* find(std::uint64_t key) const;
  void put(std::uint64_t key, const verbs_remote_memory& memory);

  /// Nothing is known any more: a write met memory that is not there.
  void clear();

  /// Grows with every `clear`: what was learned before is not to be trusted.
  std::uint32_t generation() const { return generation_; }

 private:
  // Chosen: the transfers that a link has under way at once in the largest plans, twice.
  static constexpr std::size_t place_count = 256;

  struct entry {
    std::uint64_t key = 0;  ///< 0: free; no key is 0
    verbs_remote_memory memory;
  };

  // A key has its slot in the lower half: live keys of one peer are spread evenly.
  static std::size_t place_of(std::uint64_t key) { return key % place_count; }

  std::array<entry, place_count> entries_{};
  std::uint32_t generation_ = 0;
};

}  // namespace troupe::net
