#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "runtime/result.hpp"

namespace troupe::kernels::detail {

/// The one place where a cudaError_t becomes an `error`; `native` keeps its number.
inline error to_error(cudaError_t status) {
  const auto native = static_cast<std::int32_t>(status);
  switch (status) {
    case cudaSuccess: return {};
    case cudaErrorInvalidValue:
    case cudaErrorInvalidDevice:
    case cudaErrorInvalidResourceHandle: return {errc::bad_argument, native};
    case cudaErrorMemoryAllocation: return {errc::resource_exhausted, native};
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorNotSupported:
    case cudaErrorPeerAccessUnsupported: return {errc::not_available, native};
    default: return {errc::system_failure, native};
  }
}

inline result<void> checked(cudaError_t status) {
  if (status == cudaSuccess) return {};
  return tl::unexpected<error>(to_error(status));
}

/// With what was tried: "cudaMalloc of 4096 bytes on GPU 1: out of memory".
inline outcome<void> checked(cudaError_t status, const std::string& what) {
  if (status == cudaSuccess) return {};
  return fail(failure(to_error(status), what + ": " + cudaGetErrorString(status)));
}

/// An error of a call that enqueues, with what was tried and the name that CUDA has for it.
inline failure named(const error& what, const std::string& tried) {
  const auto status = static_cast<cudaError_t>(what.native);
  return {what,
          tried + ": " +
              (what.native == 0 ? std::string(explain(what.code)) : cudaGetErrorName(status))};
}

}  // namespace troupe::kernels::detail
