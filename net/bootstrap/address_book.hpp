#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory_resource>
#include <vector>

#include "runtime/lane.hpp"
#include "runtime/place.hpp"
#include "runtime/strong_types.hpp"

namespace troupe::net {

/// Where one rank is reached, and where it stands.
struct book_entry {
  lane_address address{};
  place_code place{};

  friend constexpr bool operator==(const book_entry&, const book_entry&) = default;
};

/// Bytes that one rank costs in memory; on the wire it is `book_entry_wire_bytes`.
inline constexpr std::size_t book_entry_bytes = 36;
static_assert(sizeof(book_entry) == book_entry_bytes);

/// World ranks from here on came in after the job had begun. They are neither in the ring nor in
/// the pages of the book; they make themselves known to whom they link to.
inline constexpr std::uint32_t first_newcomer = 1u << 31;

constexpr bool is_newcomer(rank r) {
  return r.value >= first_newcomer && r != no_rank;
}

/// The address of every rank of the world, in rank order: 3.6 MB at 100,000 ranks; and those of
/// newcomers that are known.
class address_book {
 public:
  explicit address_book(std::pmr::memory_resource* memory = std::pmr::get_default_resource())
      : entries_(memory), newcomers_(memory) {}

  /// Room for `world_size` ranks, none of them known.
  void resize(std::uint32_t world_size) { entries_.assign(world_size, book_entry{}); }

  std::uint32_t size() const { return static_cast<std::uint32_t>(entries_.size()); }
  bool contains(rank r) const { return r.value < entries_.size() || newcomers_.contains(r.value); }

  /// The caller keeps ranks of the world below `size()`. A rank that is not known yet has port 0.
  book_entry at(rank r) const {
    if (!is_newcomer(r)) return entries_[to_index(r)];
    const auto found = newcomers_.find(r.value);
    return found == newcomers_.end() ? book_entry{} : found->second;
  }
  void set(rank r, const book_entry& entry) {
    (is_newcomer(r) ? newcomers_[r.value] : entries_[to_index(r)]) = entry;
  }

  const std::pmr::map<std::uint32_t, book_entry>& newcomers() const { return newcomers_; }

  friend bool operator==(const address_book&, const address_book&) = default;

 private:
  std::pmr::vector<book_entry> entries_;
  std::pmr::map<std::uint32_t, book_entry> newcomers_;  ///< by rank
};

}  // namespace troupe::net
