#pragma once

#include <cstdint>

namespace troupe::collectives {

/// What one rank exchanges with one peer in an all_to_all_v, in bytes; offsets from the start of
/// the send and of the receive buffer.
struct peer_block {
  std::uint64_t send_offset = 0;
  std::uint64_t send_bytes = 0;
  std::uint64_t receive_offset = 0;
  std::uint64_t receive_bytes = 0;
};

}  // namespace troupe::collectives
