#pragma once

#include <cstdint>
#include <string>

namespace troupe::config {

/// Queue pairs of RDMA devices. Section [verbs].
struct verbs_options {
  std::string devices;            ///< "mlx5_0,mlx5_1:1", "^mlx5_2"; empty: every active port
  std::uint32_t gid_index = 255;  ///< row of the port's GID table; 255: chosen
  std::uint32_t mtu = 0;          ///< path MTU in bytes; 0: the smaller of both ports
  std::uint32_t timeout = 16;  ///< the device's wait for an acknowledgement: 4.096 us * 2^timeout
  std::uint32_t retry_count = 6;                   ///< repetitions before a queue pair fails
  std::uint32_t traffic_class = 0;                 ///< of the packets (DSCP and ECN on RoCE)
  std::uint32_t service_level = 0;                 ///< InfiniBand service level
  std::uint32_t hop_limit = 64;                    ///< routers a packet may pass
  std::uint32_t lane_depth = 32;                   ///< writes a lane takes at once
  std::uint64_t inline_bytes = 128;                ///< writes up to this travel in the request
  std::uint32_t completion_queue_entries = 16384;  ///< of one completion queue
};

}  // namespace troupe::config
