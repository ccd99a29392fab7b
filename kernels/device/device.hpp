#pragma once

#include <cstdint>

#include "runtime/result.hpp"

namespace troupe::kernels {

/// How many GPUs this process may use.
/// Errors: not_available without a driver, or with one older than the toolkit; the text has both
/// versions.
outcome<int> device_count();

/// Makes a GPU current on this thread for the life of the object, then the one that was before.
class device_scope {
 public:
  explicit device_scope(int device);
  ~device_scope();
  device_scope(const device_scope&) = delete;
  device_scope& operator=(const device_scope&) = delete;

 private:
  int before_ = 0;
  bool changed_ = false;
};

/// Lets kernels and copy engines of `device` reach the memory of `peer`, another GPU of this
/// machine. Doing so again is no error.
/// Errors: not_available if the machine does not connect the two.
outcome<void> allow_peer_access(int device, int peer);

/// Memory of the GPU that nobody holds, in bytes.
outcome<std::uint64_t> free_memory(int device);

/// Whether all work that was given to the GPU is done; waits for it.
/// Errors: system_failure with the CUDA error of a kernel that failed.
outcome<void> wait_for_device(int device);

}  // namespace troupe::kernels
