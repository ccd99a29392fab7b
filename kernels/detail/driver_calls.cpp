#include <cuda_runtime_api.h>

#include <string>

#include "kernels/detail/cuda_status.hpp"
#include "kernels/detail/driver_calls.hpp"

namespace troupe::kernels::detail {

namespace {

// Signatures as CUDA 12.0 has them, which every driver of a later toolkit keeps.
constexpr unsigned signature_version = 12000;

template <class Call>
outcome<void> find(const char* name, Call& call) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult answer{};
  const auto status =
      cudaGetDriverEntryPointByVersion(name, &found, signature_version, cudaEnableDefault, &answer);
  if (status != cudaSuccess || answer != cudaDriverEntryPointSuccess)
    return fail(failure(error{errc::not_available, static_cast<std::int32_t>(status)},
                        std::string("the NVIDIA driver has no ") + name));
  call = reinterpret_cast<Call>(found);
  return {};
}

}  // namespace

outcome<driver_calls> driver_calls::load() {
  driver_calls calls;
  if (auto done = find("cuMemGetAddressRange", calls.address_range); !done)
    return fail(done.error());
  if (auto done = find("cuStreamBatchMemOp", calls.batch); !done) return fail(done.error());
  if (auto done = find("cuGraphAddBatchMemOpNode", calls.add_batch); !done)
    return fail(done.error());
  if (auto done = find("cuCtxGetCurrent", calls.current_context); !done) return fail(done.error());
  return calls;
}

}  // namespace troupe::kernels::detail
