#pragma once

#include <cstdint>

#include "collectives/collective_task.hpp"
#include "collectives/transfer_window.hpp"

namespace troupe::collectives {

/// Where one rank stands in a broadcast. Ranks are numbered from the root. In a tree the parent of
/// a number lacks its lowest bit, child k of a number adds bit k below that; in a chain the parent
/// is the number before and the child the one behind. `puts` is indexed by chunk * child_count +
/// child, `accepts` by chunk.
struct binomial_tree_state {
  std::uint64_t chunk_count = 0;
  std::uint32_t number = 0;       ///< places behind the root
  std::uint32_t child_count = 0;  ///< children, the farthest first
  bool is_chain = false;
  transfer_window puts;
  transfer_window accepts;
};

binomial_tree_state make_binomial_tree_state(const collective_task& task);

}  // namespace troupe::collectives
