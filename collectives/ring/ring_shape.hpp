#pragma once

#include <cstdint>

#include "collectives/plan.hpp"

namespace troupe::collectives {

/// The order in which a ring moves its pieces. A piece is one chunk of one block at one time step;
/// pieces are numbered group by group, in a group time by time, in a time chunk by chunk. Piece i
/// of a rank's puts is piece i of its successor's accepts.
///
/// At time t rank r sends block (r - 1 - t) mod P and receives block (r - 2 - t) mod P. Times
/// 0 to P - 2 reduce, so that r ends up with block r; times P - 1 to 2P - 3 hand the blocks round.
/// all_reduce runs all of them, reduce_scatter the first half, all_gather the second.
struct ring_shape {
  std::uint32_t rank_count = 2;
  std::uint32_t first_time = 0;
  std::uint32_t time_count = 0;
  std::uint32_t group_chunk_count = 1;  ///< chunks of a block that travel together
  std::uint64_t group_count = 0;
  std::uint64_t block_chunk_count = 0;  ///< chunks of the largest block
  std::uint32_t slot_count = 0;         ///< chunks of scratch that arriving pieces land in
  std::uint32_t stage_count = 0;        ///< chunks of scratch that hold scaled input to be sent

  std::uint64_t piece_count() const { return group_count * time_count * group_chunk_count; }
  std::uint64_t scratch_chunk_count() const { return slot_count + stage_count; }
};

/// Where a piece stands.
struct ring_piece {
  std::uint32_t time = 0;
  std::uint64_t chunk = 0;
};

constexpr ring_piece ring_piece_at(const ring_shape& shape, std::uint64_t index) {
  const std::uint64_t group_pieces = std::uint64_t{shape.time_count} * shape.group_chunk_count;
  const std::uint64_t within = index % group_pieces;
  return {shape.first_time + static_cast<std::uint32_t>(within / shape.group_chunk_count),
          index / group_pieces * shape.group_chunk_count + within % shape.group_chunk_count};
}

/// The piece in which a rank sends chunk `chunk` at the first time.
constexpr std::uint64_t ring_first_piece_of(const ring_shape& shape, std::uint64_t chunk) {
  const std::uint64_t group_pieces = std::uint64_t{shape.time_count} * shape.group_chunk_count;
  return chunk / shape.group_chunk_count * group_pieces + chunk % shape.group_chunk_count;
}

/// The shape that follows from kind, size, chunk_bytes and pipeline_chunk_count of a plan.
ring_shape ring_shape_of(const plan& what);

}  // namespace troupe::collectives
