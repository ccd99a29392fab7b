#pragma once

#include <cuda_runtime_api.h>

#include "kernels/stream_ref.hpp"

namespace troupe::kernels::detail {

inline cudaStream_t native(stream_ref stream) {
  return static_cast<cudaStream_t>(stream.native);
}

}  // namespace troupe::kernels::detail
