#pragma once

#include <cstdint>
#include <string>

namespace troupe::config {

/// Shared memory between processes of one host. Section [shm].
struct shm_options {
  std::uint64_t ring_bytes = 128 * 1024;   ///< frames on their way in one direction of a lane
  std::uint64_t bulk_bytes = 1024 * 1024;  ///< large writes on their way where they are not pulled
  std::uint64_t inline_bytes = 16 * 1024;  ///< writes up to this travel in the ring
  std::uint32_t lane_depth = 32;           ///< writes a lane takes at once
  std::string large_writes = "auto";       ///< how they come: "auto", "pull" or "ring"
};

}  // namespace troupe::config
