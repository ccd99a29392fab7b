#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "net/bootstrap/address_book.hpp"
#include "runtime/result.hpp"

namespace troupe::net {

/// What newcomers and members tell each other over a link: where ranks are reached.
struct address_list {
  struct entry {
    rank who{};
    book_entry where;

    friend bool operator==(const entry&, const entry&) = default;
  };
  bool wants_book = false;  ///< the receiver is to answer with all that it knows
  std::vector<entry> entries;

  friend bool operator==(const address_list&, const address_list&) = default;
};

/// Most entries. Derived: what fits the longest frame that a link carries in parts.
inline constexpr std::uint32_t address_list_count_max = 2500;

/// Layout (little-endian): magic "TRPA", u8 version = 1, u8 flags (1: wants the book), u16 zero,
/// u32 count, then for each u32 rank and an entry of the book (docs/protocols/bootstrap.md).
std::vector<std::byte> encode(const address_list& list);

/// Whether the bytes claim to be an address list.
bool is_address_list(std::span<const std::byte> bytes);

/// Errors: malformed, version_mismatch.
result<address_list> decode_address_list(std::span<const std::byte> bytes);

}  // namespace troupe::net
