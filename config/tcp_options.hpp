#pragma once

#include <cstdint>
#include <string>

namespace troupe::config {

/// Sockets. Section [tcp].
struct tcp_options {
  std::string congestion_control;          ///< e.g. "reno"; empty: the system's, reno within a host
  std::uint64_t send_buffer_bytes = 0;     ///< SO_SNDBUF; 0: the system tunes it
  std::uint64_t receive_buffer_bytes = 0;  ///< SO_RCVBUF; 0: the system tunes it
  std::uint32_t backlog = 1024;            ///< listen(2) backlog
  std::uint32_t lane_depth = 64;           ///< writes a lane takes at once
};

}  // namespace troupe::config
