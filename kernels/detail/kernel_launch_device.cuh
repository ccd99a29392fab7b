#pragma once

#include <cuda_runtime_api.h>

#include "kernels/detail/cuda_status.hpp"
#include "kernels/detail/native_stream.hpp"
#include "kernels/device/device.hpp"
#include "kernels/stream_ref.hpp"

namespace troupe::kernels::detail {

template <class Task>
using task_kernel = void (*)(Task);

/// Launches so that the kernel may be scheduled before its predecessor is over (`follow_closely`).
template <class Task>
result<void> launch(task_kernel<Task> kernel, stream_ref in, std::uint32_t blocks,
                    std::uint32_t threads, const Task& task) {
  const device_scope current(in.device);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t how{};
  how.gridDim = dim3(blocks);
  how.blockDim = dim3(threads);
  how.stream = native(in);
  how.attrs = &attribute;
  how.numAttrs = 1;
  void* arguments[] = {const_cast<Task*>(&task)};
  return checked(cudaLaunchKernelExC(&how, reinterpret_cast<const void*>(kernel), arguments));
}

/// Loads a kernel onto the current GPU.
template <class Task>
result<void> load(task_kernel<Task> kernel) {
  cudaFuncAttributes attributes{};
  return checked(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel)));
}

}  // namespace troupe::kernels::detail
