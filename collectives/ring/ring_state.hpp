#pragma once

#include "collectives/collective_task.hpp"
#include "collectives/ring/ring_shape.hpp"
#include "collectives/transfer_window.hpp"

namespace troupe::collectives {

/// Where one rank stands in a ring. Windows are indexed by piece, `stages` by chunk.
struct ring_state {
  ring_shape shape;
  transfer_window puts;
  transfer_window accepts;       ///< arrived
  transfer_window arrivals;      ///< arrived and, where the piece is reduced, combined
  transfer_window stages;        ///< own input scaled, ready to be sent
  bool own_block_placed = true;  ///< all_gather: this rank's block is in its output
};

ring_state make_ring_state(const collective_task& task);

}  // namespace troupe::collectives
