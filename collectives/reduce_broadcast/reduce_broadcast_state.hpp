#pragma once

#include "collectives/binomial_tree/binomial_tree_state.hpp"
#include "collectives/reduce_tree/reduce_tree_state.hpp"

namespace troupe::collectives {

/// Where one rank stands in an all_reduce that is a reduce to rank 0 and a broadcast from it, both
/// along binomial trees. Steps of the broadcast follow those of the reduce.
struct reduce_broadcast_state {
  reduce_tree_state reduce;
  binomial_tree_state broadcast;
  bool reduced = false;  ///< this rank's part in the reduce is over
};

reduce_broadcast_state make_reduce_broadcast_state(const collective_task& task);

}  // namespace troupe::collectives
