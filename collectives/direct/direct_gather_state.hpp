#pragma once

#include <cstdint>

#include "collectives/collective_task.hpp"
#include "collectives/transfer_window.hpp"

namespace troupe::collectives {

/// Where one rank stands in a direct all_gather. Pieces are numbered by distance, then chunk: piece
/// (d - 1) * chunk_count + c goes to the rank d places behind and comes from the one d before.
struct direct_gather_state {
  std::uint64_t chunk_count = 0;
  std::uint64_t piece_count = 0;
  transfer_window puts;
  transfer_window accepts;
  bool own_block_placed = true;
};

direct_gather_state make_direct_gather_state(const collective_task& task);

}  // namespace troupe::collectives
