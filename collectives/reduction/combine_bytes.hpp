#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/data_type.hpp"
#include "runtime/stream_copy.hpp"

namespace troupe::collectives {

/// How to combine two runs of elements. `scale_left` and `scale_right` belong to premultiplied_sum,
/// `divide` to average; elsewhere they are false.
struct combine_rule {
  data_type type = data_type::float32;
  reduction op = reduction::sum;
  double scalar = 1.0;        ///< premultiplied_sum: converted to `type` before use
  std::uint32_t divisor = 1;  ///< average: number of contributors, at least 1
  bool scale_left = false;
  bool scale_right = false;
  bool divide = false;
};

/// target[i] = left[i] (op) right[i] for i in [0, count). `target` may equal `left` or `right`;
/// partial overlap is not allowed. Any alignment. float16, bfloat16 and float8 are combined in
/// float32 and rounded to nearest even; integers wrap; a NaN in the outcome is the type's canonical
/// NaN. All rules: docs/algorithms.md.
/// The choice changes the speed and no bit of the outcome; a target that is an operand, whose lines
/// are read anyway, is never streamed.
/// Cost: one pass. Thread: any, in the default floating-point environment.
void combine_bytes(const combine_rule& rule, std::byte* target, const std::byte* left,
                   const std::byte* right, std::uint64_t count, const loop_choice& choice = {});

/// target[i] = source[i], multiplied by the scalar if `scale_left`, divided if `divide`. `target`
/// may equal `source`; partial overlap is not allowed. Without either the bits stay as they are.
void copy_bytes(const combine_rule& rule, std::byte* target, const std::byte* source,
                std::uint64_t count, const loop_choice& choice = {});

}  // namespace troupe::collectives
