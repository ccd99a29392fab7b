#pragma once

namespace troupe::kernels {

/// A stream of the caller, without a header of CUDA: `native` is its cudaStream_t. The null stream
/// of a device has a null `native`.
struct stream_ref {
  void* native = nullptr;
  int device = 0;

  friend constexpr bool operator==(const stream_ref&, const stream_ref&) = default;
};

}  // namespace troupe::kernels
