#pragma once

#include <array>
#include <cstdint>

#include "collectives/collective_task.hpp"
#include "collectives/transfer_window.hpp"

namespace troupe::collectives {

/// One direction of a direct exchange. Pieces are numbered in the order in which they are posted:
/// by distance, then chunk. Blocks of different peers may have different numbers of chunks, so the
/// first piece of each distance that may be open is remembered, in the place distance mod 16.
struct exchange_side {
  transfer_window pieces;
  std::uint32_t distance = 1;  ///< of the next piece to post; P: all are posted
  std::uint64_t chunk = 0;     ///< of the next piece to post
  std::array<std::uint64_t, window_width_max> first_piece{};
};

/// Where one rank stands in a direct all_to_all or all_to_all_v: at distance d it sends to the rank
/// d places behind and receives from the one d before. Piece i of the puts at one end is in the
/// same place of the order at the other, so an exchange cannot wait for itself.
struct direct_exchange_state {
  exchange_side puts;
  exchange_side accepts;
  bool own_block_placed = true;
};

direct_exchange_state make_direct_exchange_state(const collective_task& task);

}  // namespace troupe::collectives
