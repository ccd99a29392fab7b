#pragma once

#include <cstdint>
#include <string>

#include "runtime/instant.hpp"

namespace troupe::config {

/// The link between two ranks. Section [transport].
struct transport_options {
  std::string lanes = "auto";                 ///< "auto", "tcp", "shm" or "verbs"; must agree
  std::uint32_t data_lane_count = 1;          ///< data lanes beside the control lane; must agree
  std::uint64_t segment_bytes = 1024 * 1024;  ///< largest write; must agree
  std::uint64_t eager_bytes = 16 * 1024;  ///< transfers up to this need no handshake; must agree
  std::uint32_t eager_slot_count = 64;  ///< eager messages a peer may have outstanding; must agree
  std::uint32_t window_segment_count = 1024;     ///< reorder window, a power of two; must agree
  std::uint64_t parked_bytes = 4 * 1024 * 1024;  ///< early eager messages kept per link
  std::uint32_t transfer_count = 4096;  ///< transfers of one link that may be pending; must agree
  duration write_timeout = std::chrono::seconds(5);     ///< a lane that does not complete is lost
  duration ack_delay = std::chrono::microseconds(500);  ///< longest wait before an ack goes alone
  duration heartbeat_interval =
      std::chrono::milliseconds(500);                   ///< silence after which we say something
  duration silence_timeout = std::chrono::seconds(10);  ///< silence after which the peer is lost
};

}  // namespace troupe::config
