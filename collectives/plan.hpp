#pragma once

#include <cstdint>
#include <optional>

#include "runtime/operation.hpp"
#include "runtime/result.hpp"
#include "runtime/strong_types.hpp"

namespace troupe::collectives {

/// Most members of a communicator that a plan is made for: time steps of a ring times the chunks of
/// a block stay below 2^31, so that a step number fits its 32 bits.
inline constexpr std::uint32_t rank_count_max = 1u << 24;

/// Steps and tokens of an operation stay below this, so that they fit 32 bits with one to spare.
inline constexpr std::uint64_t step_count_max = std::uint64_t{1} << 31;

/// Smallest chunk that a ring or chain cuts bytes into for the sake of overlap alone (chosen: below
/// it the fixed cost of a transfer outweighs what overlap gains).
inline constexpr std::uint64_t ring_chunk_bytes_min = 64 * 1024;

/// Limits that choose and shape algorithms. Must be equal on all ranks. Filled from
/// `config/collective_options.hpp` by whoever plans.
struct tuning {
  std::uint64_t all_reduce_halving_above_bytes = 128 * 1024;
  std::uint64_t all_reduce_ring_above_bytes = 1024 * 1024;
  std::uint64_t all_gather_ring_above_bytes = 1024 * 1024;
  std::uint32_t all_gather_bruck_above_ranks = 8;
  std::uint64_t reduce_scatter_ring_above_bytes = 1024 * 1024;
  std::uint64_t broadcast_chain_above_bytes = 4 * 1024 * 1024;
  std::uint64_t reduce_chain_above_bytes = 4 * 1024 * 1024;
  std::uint64_t chunk_bytes = 1024 * 1024;  ///< largest piece of a pipelined transfer, at least 1
  std::uint32_t pipeline_chunk_count = 4;   ///< chunks in flight per direction, 1 to 16
  /// Largest chunk of a fault-tolerant all_reduce (8 MiB fill a 400 Gb/s port over a data centre).
  std::uint64_t ftar_chunk_bytes = 8 * 1024 * 1024;
  std::uint32_t ftar_chunk_count = 4;  ///< its chunks in flight per direction, 1 to 16
};

/// What one rank will do for one operation: the path taken and the memory it needs.
struct plan {
  operation_signature signature;
  operation_path path;
  rank self{};
  std::uint32_t size = 1;
  std::uint64_t chunk_bytes = 0;
  std::uint32_t pipeline_chunk_count = 1;
  std::uint64_t scratch_bytes = 0;  ///< staging that the driver provides with the buffers
  std::uint64_t saved_bytes = 0;    ///< a place for the input where it has to survive
  rank peer = no_rank;              ///< send and receive: the other side
};

/// What a plan is made from. `lanes` only labels the path.
struct plan_request {
  operation_signature signature;
  rank self{};
  std::uint32_t size = 1;
  lane_kind lanes = lane_kind::none;
  std::optional<algorithm> requested{};
  bool in_place = false;
  rank peer = no_rank;
};

/// Chooses the algorithm by the table of docs/algorithms.md and computes the plan's numbers. The
/// same request gives the same path on every rank.
/// Errors: not_available for a split, which has no plan of its own; bad_argument if `requested` is
///         not one of the kind's, a rank lies outside the communicator, a type or operator is
///         unknown, the larger buffer has 2^63 bytes or more, or a limit is out of range.
result<plan> make_plan(const plan_request& request, const tuning& limits);

}  // namespace troupe::collectives
