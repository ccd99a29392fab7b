#pragma once

#include <cstdint>

#include "collectives/collective_task.hpp"
#include "collectives/transfer_window.hpp"

namespace troupe::collectives {

/// Where one rank stands in a direct gather or scatter. At the root pieces are numbered by chunk,
/// then distance: piece c * (P - 1) + d - 1 is chunk c of the rank d places behind, so that all
/// ranks move at once. Elsewhere a piece is a chunk of the own block.
struct direct_root_state {
  std::uint64_t piece_count = 0;
  transfer_window pieces;
  bool own_block_placed = true;  ///< at the root: its own block is in its output
};

direct_root_state make_direct_root_state(const collective_task& task);

}  // namespace troupe::collectives
