#pragma once

#include <cstdint>
#include <string>

#include "runtime/instant.hpp"

namespace troupe::config {

/// How ranks find each other. Section [bootstrap].
struct bootstrap_options {
  std::string rendezvous;  ///< "host:port" of rank 0's rendezvous; empty: MASTER_ADDR:MASTER_PORT
  std::string
      interface;  ///< address or interface name to listen on; empty: the route to the rendezvous
  std::string secret;                           ///< job secret; equal on all ranks. Never printed.
  std::uint16_t port_first = 0;                 ///< lowest port to listen on; 0: any
  std::uint16_t port_last = 0;                  ///< highest port to listen on
  duration timeout = std::chrono::seconds(60);  ///< from `join` to the world communicator
  duration step_timeout = std::chrono::seconds(10);     ///< one handshake, one exchange
  duration connect_timeout = std::chrono::seconds(10);  ///< one link, all its lanes
  std::uint32_t rendezvous_fan_out =
      1024;  ///< ranks one rendezvous serves before a tree is used; must agree
  std::uint32_t pending_connection_count = 256;  ///< unauthenticated connections held at once
};

}  // namespace troupe::config
