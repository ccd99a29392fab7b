#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "runtime/lane.hpp"
#include "runtime/strong_types.hpp"

namespace troupe::net {

/// Where one rank is reached, and which host it runs on.
struct book_entry {
  lane_address address{};
  std::uint32_t host_id = 0;

  friend constexpr bool operator==(const book_entry&, const book_entry&) = default;
};

/// Bytes that one rank costs in memory; on the wire it is `book_entry_wire_bytes`.
inline constexpr std::size_t book_entry_bytes = 24;
static_assert(sizeof(book_entry) == book_entry_bytes);

/// The address of every rank of the world, in rank order: 2.4 MB at 100,000 ranks.
class address_book {
 public:
  explicit address_book(std::pmr::memory_resource* memory = std::pmr::get_default_resource())
      : entries_(memory) {}

  /// Room for `world_size` ranks, none of them known.
  void resize(std::uint32_t world_size) { entries_.assign(world_size, book_entry{}); }

  std::uint32_t size() const { return static_cast<std::uint32_t>(entries_.size()); }
  bool contains(rank r) const { return r.value < entries_.size(); }

  /// The caller keeps `r` below `size()`. A rank that is not known yet has port 0.
  const book_entry& at(rank r) const { return entries_[to_index(r)]; }
  void set(rank r, const book_entry& entry) { entries_[to_index(r)] = entry; }

  friend bool operator==(const address_book&, const address_book&) = default;

 private:
  std::pmr::vector<book_entry> entries_;
};

}  // namespace troupe::net
