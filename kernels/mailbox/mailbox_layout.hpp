#pragma once

#include <cstddef>
#include <cstdint>

namespace troupe::kernels {

/// One message between a kernel and an actor: 16 bytes that a GPU reads and writes as one. What
/// `kind`, `index` and `argument` mean is between the two ends.
struct mailbox_record {
  std::uint64_t argument = 0;
  std::uint16_t kind = 0;
  std::uint16_t index = 0;
  std::uint32_t sequence = 0;  ///< of the mailbox: the record's number from 1 on, never 0

  friend constexpr bool operator==(const mailbox_record&, const mailbox_record&) = default;
};
static_assert(sizeof(mailbox_record) == 16);

/// Records of a mailbox. A power of two.
inline constexpr std::uint32_t mailbox_depth = 256;

/// A ring in pinned host memory with one writer and one reader, one of them a kernel. A record is
/// there when its sequence word is the one that comes next; the reader says how far it read once in
/// `mailbox_depth / 4` records, and a writer that finds no room waits: nothing is ever lost.
///
/// The two cursors have cache lines of their own. A sequence counts up to 2^32 - 1 and goes on
/// with 1, so that memory of zeros has no record in it.
struct mailbox_layout {
  alignas(128) mailbox_record records[mailbox_depth];
  /// Stored by the reader alone: records that it has taken, modulo 2^32.
  alignas(128) std::uint32_t taken;
  /// Not 0: whoever waits at either end gives up.
  alignas(128) std::uint32_t closed;
};

/// The sequence word of record number `count`, counted from 0 without end.
constexpr std::uint32_t mailbox_sequence(std::uint64_t count) {
  return static_cast<std::uint32_t>(count % 0xffff'ffffull) + 1;
}

}  // namespace troupe::kernels
