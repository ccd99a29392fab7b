#pragma once

#include <cstdint>

#include "runtime/instant.hpp"

namespace troupe::config {

/// Choice and shape of algorithms, and limits on operations. Section [collective].
struct collective_options {
  std::uint64_t all_reduce_halving_above_bytes = 128 * 1024;    ///< must agree
  std::uint64_t all_reduce_ring_above_bytes = 1024 * 1024;      ///< must agree
  std::uint64_t all_gather_ring_above_bytes = 1024 * 1024;      ///< must agree
  std::uint32_t all_gather_bruck_above_ranks = 8;               ///< must agree
  std::uint64_t reduce_scatter_ring_above_bytes = 1024 * 1024;  ///< must agree
  std::uint64_t broadcast_chain_above_bytes = 4 * 1024 * 1024;  ///< must agree
  std::uint64_t reduce_chain_above_bytes = 4 * 1024 * 1024;     ///< must agree
  std::uint64_t chunk_bytes = 1024 * 1024;                      ///< must agree
  std::uint32_t pipeline_chunk_count = 4;                       ///< must agree
  std::uint32_t outstanding_operation_count = 256;  ///< running or queued per communicator
  duration timeout = std::chrono::minutes(10);  ///< one operation, unless the call says otherwise
};

}  // namespace troupe::config
