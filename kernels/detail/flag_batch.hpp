#pragma once

#include <cuda.h>

#include <cstdint>

#include "runtime/inline_list.hpp"

namespace troupe::kernels::detail {

/// Stores and waits of a stream on words of memory, done in their order by one entry of the stream:
/// an entry costs a copy engine more than a microsecond.
class flag_batch {
 public:
  static constexpr std::size_t steps_max = 32;

  /// Everything that the stream did before is visible to whoever sees the value.
  flag_batch& set(const void* word, std::uint32_t value);
  /// Until the word is at least 1.
  flag_batch& wait(const void* word);
  /// Until the word is at least 1, then sets it back.
  flag_batch& take(const void* word) { return wait(word).set(word, 0); }

  bool empty() const { return steps_.empty(); }
  unsigned size() const { return static_cast<unsigned>(steps_.size()); }
  CUstreamBatchMemOpParams* data() { return steps_.begin(); }
  void clear() { steps_.clear(); }

 private:
  inline_list<CUstreamBatchMemOpParams, steps_max> steps_;
};

}  // namespace troupe::kernels::detail
