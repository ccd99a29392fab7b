#pragma once

#include <cstdint>

#include "collectives/collective_task.hpp"
#include "collectives/transfer_window.hpp"

namespace troupe::collectives {

/// Where one rank stands in an all_gather of ceil(log2 P) rounds. In round k it has the blocks of
/// ranks r to r + 2^k - 1, sends them to rank r - 2^k, and gets as many that begin with r + 2^k,
/// fewer in the last round. Blocks lie where they belong from the start: where they wrap around the
/// end of the output, a round moves two runs of bytes.
///
/// Pieces are numbered in the order in which they are posted: by round, then run, then chunk. The
/// first piece of each round is kept for the rounds that may be open, at most as many as there are
/// bits in a rank.
struct bruck_side {
  transfer_window pieces;
  std::uint32_t round = 0;  ///< of the next piece to post
  std::uint64_t step = 0;   ///< of the next piece to post, within its round
  std::uint64_t first_piece[32] = {};
};

struct bruck_state {
  std::uint32_t round_count = 0;
  bruck_side puts;
  bruck_side accepts;
  bool own_block_placed = true;
};

bruck_state make_bruck_state(const collective_task& task);

}  // namespace troupe::collectives
