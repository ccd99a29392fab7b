#pragma once

#include <cstdint>
#include <string>

#include "runtime/instant.hpp"

namespace troupe::config {

/// The worker thread of an endpoint. Section [worker].
struct worker_options {
  duration spin = std::chrono::microseconds(50);    ///< busy polling after the last work
  duration yield = std::chrono::microseconds(200);  ///< then sched_yield between polls; then park
  std::string
      cpus;  ///< cpu list to run on ("0-3,8"); empty: near NIC and GPU if known, else anywhere
  duration byte_slice = std::chrono::microseconds(100);  ///< longest copy or reduction at a stretch
  std::uint64_t scratch_bytes = 64ull << 20;             ///< staging memory of running operations
  std::uint64_t control_bytes = 32ull << 20;             ///< of each slab of control objects
};

}  // namespace troupe::config
