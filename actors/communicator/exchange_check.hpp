#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "collectives/peer_block.hpp"
#include "runtime/communicator.hpp"
#include "runtime/result.hpp"
#include "runtime/strong_types.hpp"

namespace troupe::actors {

/// What an all_to_all_v moves, one block for each rank, and how far its buffers reach.
struct exchange_blocks {
  /// Shared by the request and whoever runs it; the last of them frees it.
  std::shared_ptr<const std::vector<collectives::peer_block>> blocks;
  std::uint64_t send_bytes = 0;
  std::uint64_t receive_bytes = 0;
};

/// Checks counts and offsets of an all_to_all_v: a list has one entry for each rank, no block
/// leaves the address space, blocks that are received are disjoint and apart from those that are
/// sent, and a rank sends itself what it receives from itself.
///
/// Cost:   O(P), O(P log P) where offsets are not in rank order; two lists of P are allocated, one
///         of them for the life of the operation.
/// Errors: bad_argument, naming the list, the rank and the limit.
outcome<exchange_blocks> check_blocks(const all_to_all_v_arguments& a, rank self,
                                      std::uint32_t size);

}  // namespace troupe::actors
