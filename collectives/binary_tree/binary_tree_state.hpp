#pragma once

#include <array>
#include <cstdint>

#include "collectives/collective_task.hpp"
#include "collectives/transfer_window.hpp"

namespace troupe::collectives {

/// Ranks `first` to `first + count - 1`, led by the first of them.
struct rank_run {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

/// Where one rank stands in an all_gather up and down a binary tree over runs of ranks: the first
/// rank of a run is the parent of the first ranks of the two halves of the rest. So the blocks of a
/// subtree are neighbours in the output, and go up as one run of bytes.
///
/// Chunks of what goes up are numbered within the subtree's run, arrivals by child, then chunk;
/// what comes down is the whole output.
struct binary_tree_state {
  std::uint32_t parent = 0;  ///< the rank itself at the root
  rank_run own;              ///< this rank's subtree
  std::uint32_t child_count = 0;
  std::array<rank_run, 2> children{};
  std::uint64_t chunk_count = 0;  ///< of the whole output
  transfer_window arrivals;
  transfer_window ups;
  transfer_window accepts;  ///< from the parent, by chunk
  transfer_window downs;    ///< by chunk * child_count + child
  bool own_block_placed = true;
};

binary_tree_state make_binary_tree_state(const collective_task& task);

}  // namespace troupe::collectives
