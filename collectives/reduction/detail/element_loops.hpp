#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/data_type.hpp"

namespace troupe::collectives::detail {

/// What a loop over elements is given. `right` is unused by loops with one operand.
struct loop_arguments {
  std::byte* target = nullptr;
  const std::byte* left = nullptr;
  const std::byte* right = nullptr;
  std::uint64_t count = 0;
  double left_factor = 1.0;  ///< scaled loops only; 1 leaves an operand as it is
  double right_factor = 1.0;
  std::uint32_t divisor = 1;  ///< divided loops only
};

using element_loop = void (*)(const loop_arguments&);

/// The loops of one element type: all that the arithmetic of that type is called through.
struct element_loops {
  element_loop sum = nullptr;
  element_loop product = nullptr;
  element_loop minimum = nullptr;
  element_loop maximum = nullptr;
  element_loop divided_sum = nullptr;
  element_loop scaled_sum = nullptr;
  element_loop scaled_copy = nullptr;
  element_loop divided_copy = nullptr;
};

/// Compiled from one source, once for each instruction set. Null for a type of another function.
namespace baseline {
const element_loops* integer_loops(data_type type);
const element_loops* float_loops(data_type type);        ///< float32, float64
const element_loops* small_float_loops(data_type type);  ///< float16, bfloat16, float8
}  // namespace baseline

namespace avx2 {
const element_loops* integer_loops(data_type type);
const element_loops* float_loops(data_type type);
const element_loops* small_float_loops(data_type type);
}  // namespace avx2

namespace avx512 {
const element_loops* integer_loops(data_type type);
const element_loops* float_loops(data_type type);
const element_loops* small_float_loops(data_type type);
}  // namespace avx512

}  // namespace troupe::collectives::detail
