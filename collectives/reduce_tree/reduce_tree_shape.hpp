#pragma once

#include <cstdint>

#include "collectives/plan.hpp"
#include "runtime/strong_types.hpp"

namespace troupe::collectives {

/// How the ranks of a reduce hang together: every rank combines what its children send with its own
/// input, in the order of the children, and sends the outcome to its parent.
///
/// binomial_tree: ranks are folded and numbered as in recursive doubling, and a number combines
/// with number ^ 1, ^ 2, ^ 4, ... until it is not the one nearer to the root. So the order is that
/// of recursive doubling, whatever the root. Of a folded pair the root stays, else the even rank.
/// chain: the rank behind the root begins, each adds its own input, the root is the last: the order
/// in which a ring reduces the root's block.
struct reduce_tree_shape {
  algorithm which = algorithm::binomial_tree;
  rank self{};
  rank root{};
  std::uint32_t size = 1;
  std::uint32_t child_count = 0;
  rank parent = no_rank;  ///< none at the root

  // binomial_tree
  std::uint32_t folded_pair_count = 0;
  std::uint32_t number = 0;       ///< of this rank among the active ones
  std::uint32_t root_number = 0;  ///< of the root
  bool has_folded_child = false;

  rank child(std::uint32_t index) const;

  /// Whether what child `index` sends stands to the left of what this rank has.
  bool is_left(std::uint32_t index) const;
};

reduce_tree_shape reduce_tree_shape_of(const plan& what);

}  // namespace troupe::collectives
