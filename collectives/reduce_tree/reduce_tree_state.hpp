#pragma once

#include <cstdint>

#include "collectives/collective_task.hpp"
#include "collectives/reduce_tree/reduce_tree_shape.hpp"
#include "collectives/transfer_window.hpp"

namespace troupe::collectives {

/// Where one rank stands in a reduce along a tree or chain. Arrivals are numbered by chunk, then
/// child, and land in slots of scratch in turn. The partial of a chunk moves along in the slot that
/// was combined last, and stays there until it is sent; the root's last combine writes the output.
struct reduce_tree_state {
  reduce_tree_shape shape;
  std::uint64_t chunk_count = 0;
  std::uint64_t arrival_count = 0;
  std::uint32_t slot_count = 0;
  transfer_window accepts;     ///< by arrival
  transfer_window puts;        ///< by chunk
  transfer_window stages;      ///< leaves: own input scaled, by chunk
  std::uint64_t combined = 0;  ///< arrivals below are part of a partial or of the output
  bool combining = false;
};

reduce_tree_state make_reduce_tree_state(const collective_task& task);

/// Chunks of scratch that a plan of this algorithm needs; equal on all ranks.
std::uint64_t reduce_tree_scratch_chunk_count(const plan& what);

}  // namespace troupe::collectives
