#pragma once

#include <string>
#include <vector>

#include "kernels/device/memory.hpp"
#include "kernels/device/stream.hpp"
#include "tests/bench/gpu/measurement.hpp"

namespace troupe::bench {

/// Products of bfloat16 matrices of 8192 x 8192 by cuBLAS, which is loaded at run time.
class matrix_products {
 public:
  /// Errors: not_available without the library.
  static outcome<matrix_products> create(int device, const std::string& library);

  /// Enqueues `count` products.
  outcome<void> start(int count) const;
  const kernels::stream& in() const { return in_; }

 private:
  using product_call = int (*)(void*, int, int, int, int, int, const void*, const void*, int, int,
                               const void*, int, int, const void*, void*, int, int, int, int);

  kernels::stream in_;
  kernels::device_memory left_;
  kernels::device_memory right_;
  kernels::device_memory product_;
  void* handle_ = nullptr;
  product_call multiply_ = nullptr;
};

/// Lets each contender do 16 calls beside 20 products, in turns, and prints how long the products
/// took and how long everything. A contender without a call stands for the products alone.
outcome<void> measure_overlap(test::member& who, const matrix_products& products,
                              const std::vector<contender>& contenders);

}  // namespace troupe::bench
