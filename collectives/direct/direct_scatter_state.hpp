#pragma once

#include <cstdint>

#include "collectives/collective_task.hpp"
#include "collectives/transfer_window.hpp"

namespace troupe::collectives {

/// Where one rank stands in a direct reduce_scatter. Pieces are numbered by chunk, then distance:
/// piece c * (P - 1) + d - 1 goes to the rank d places before and comes from the one d behind.
/// Arrivals land in slots of scratch; the partial moves along in the slot that was combined last.
struct direct_scatter_state {
  std::uint64_t chunk_count = 0;
  std::uint64_t piece_count = 0;
  std::uint32_t slot_count = 0;
  std::uint32_t stage_count = 0;  ///< scratch chunks that hold scaled input to be sent
  transfer_window puts;
  transfer_window accepts;
  transfer_window stages;        ///< own input scaled, by piece
  std::uint64_t combined = 0;    ///< pieces below are part of a partial or of the output
  std::uint64_t slots_free = 0;  ///< slots of pieces below may be used again
  bool combining = false;
  bool own_input_is_next = false;  ///< all arrivals of a chunk are combined, own input is not
};

direct_scatter_state make_direct_scatter_state(const collective_task& task);

/// Pieces in flight per direction: more where chunks are small.
std::uint32_t direct_scatter_width(const plan& what);

/// Chunks of scratch that a plan of this algorithm needs.
std::uint64_t direct_scatter_scratch_chunk_count(const plan& what);

}  // namespace troupe::collectives
