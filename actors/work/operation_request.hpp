#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "collectives/peer_block.hpp"
#include "runtime/buffer_view.hpp"
#include "runtime/instant.hpp"
#include "runtime/operation.hpp"
#include "runtime/strong_types.hpp"

namespace troupe::actors {

/// Where an operation on a window acts.
struct window_place {
  std::uint32_t number = 0;  ///< which window of the communicator
  remote_region at{};        ///< put: in the peer's window; get: `offset` alone
  bool notifies = false;
};

/// One call of the trainer, checked, as it goes to the rank actor.
struct operation_request {
  operation_signature signature;
  const void* send = nullptr;
  void* receive = nullptr;
  std::uint64_t send_bytes = 0;
  std::uint64_t receive_bytes = 0;
  double scalar = 1.0;
  rank peer = no_rank;  ///< send, receive and operations on windows: the other side
  duration timeout{};
  std::optional<troupe::algorithm> algorithm = std::nullopt;
  bool in_place = false;
  bool is_promised = false;  ///< keeps docs/protocols/ftar.md
  troupe::epoch epoch = {};  ///< in which it was called; a promised one does not care
  /// all_to_all_v: what goes to and comes from each rank. Shared with whoever runs the operation;
  /// the request, which its work keeps, lets go last.
  std::shared_ptr<const std::vector<collectives::peer_block>> blocks = nullptr;
  window_place window{};
};

}  // namespace troupe::actors
