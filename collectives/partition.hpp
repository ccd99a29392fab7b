#pragma once

#include <cstdint>

namespace troupe::collectives {

/// A run of bytes.
struct byte_range {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// `element_count` elements cut into `block_count` blocks whose sizes differ by one element at
/// most, the larger ones first; and each block into chunks, the last one shorter.
struct partition {
  std::uint64_t element_count = 0;
  std::uint64_t element_bytes = 1;
  std::uint64_t block_count = 1;
  std::uint64_t chunk_bytes = 1;

  constexpr byte_range block(std::uint64_t index) const {
    const std::uint64_t least = element_count / block_count;
    const std::uint64_t larger = element_count % block_count;
    const std::uint64_t first = index * least + (index < larger ? index : larger);
    return {first * element_bytes, (least + (index < larger ? 1 : 0)) * element_bytes};
  }

  /// Chunk `index` of a run of `bytes`, relative to its start; no bytes if the run is shorter.
  constexpr byte_range chunk(std::uint64_t bytes, std::uint64_t index) const {
    const std::uint64_t offset = index * chunk_bytes;
    if (offset >= bytes) return {bytes, 0};
    return {offset, bytes - offset < chunk_bytes ? bytes - offset : chunk_bytes};
  }
};

/// How many pieces of `piece` hold `whole`.
constexpr std::uint64_t pieces_of(std::uint64_t whole, std::uint64_t piece) {
  return whole / piece + (whole % piece != 0 ? 1 : 0);
}

}  // namespace troupe::collectives
