#pragma once

#include <cuda.h>

#include "runtime/result.hpp"

namespace troupe::kernels::detail {

/// Calls that only the driver has, found through the runtime: nothing links to libcuda.
struct driver_calls {
  using address_range_call = CUresult (*)(CUdeviceptr*, std::size_t*, CUdeviceptr);
  using batch_call = CUresult (*)(CUstream, unsigned int, CUstreamBatchMemOpParams*, unsigned int);

  using add_batch_call = CUresult (*)(CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t,
                                      const CUDA_BATCH_MEM_OP_NODE_PARAMS*);
  using current_context_call = CUresult (*)(CUcontext*);

  address_range_call address_range = nullptr;
  batch_call batch = nullptr;
  add_batch_call add_batch = nullptr;
  current_context_call current_context = nullptr;

  /// Errors: not_available if the driver lacks one; the text names it.
  static outcome<driver_calls> load();
};

}  // namespace troupe::kernels::detail
