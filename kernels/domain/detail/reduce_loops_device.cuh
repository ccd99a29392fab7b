#pragma once

#include "kernels/domain/detail/all_reduce_tasks.hpp"
#include "kernels/element/vector_reduction_device.cuh"

/// Loops of a whole grid over a range of bytes. `input(rank)` is where the bytes of a member begin,
/// `put(at, vector)` stores an outcome.
namespace troupe::kernels::detail {

inline constexpr std::uint32_t threads_of_reduction = 512;

/// Two members, whole vectors: every load of a tile is under way before the first is used.
template <class Reduction, class Put>
__device__ void reduce_pair(const Reduction& how, const std::byte* left_bytes,
                            const std::byte* right_bytes, byte_range range, const Put& put) {
  constexpr int vectors = Reduction::vectors;
  constexpr std::uint64_t stride = threads_of_reduction * 16;
  constexpr std::uint64_t tile = stride * vectors;
  for (std::uint64_t at = range.first + blockIdx.x * tile + threadIdx.x * 16; at < range.end;
       at += gridDim.x * tile) {
    vector_bytes left[vectors];
    vector_bytes right[vectors];
#pragma unroll
    for (int v = 0; v < vectors; ++v)
      if (at + v * stride < range.end) {
        left[v] = load_vector(left_bytes + at + v * stride);
        right[v] = load_vector(right_bytes + at + v * stride);
      }
#pragma unroll
    for (int v = 0; v < vectors; ++v)
      if (at + v * stride < range.end) put(at + v * stride, how.of_two(left[v], right[v]));
  }
}

/// Any number of members, whole vectors: one vector of a thread at a time, of four members at once.
template <class Reduction, class Input, class Put>
__device__ void reduce_vectors(const Reduction& how, std::uint32_t size, const Input& input,
                               byte_range range, const Put& put) {
  constexpr std::uint32_t together = 4;
  constexpr std::uint64_t stride = threads_of_reduction * 16;
  for (std::uint64_t at = range.first + blockIdx.x * stride + threadIdx.x * 16; at < range.end;
       at += gridDim.x * stride) {
    typename Reduction::work values[Reduction::elements];
    for (std::uint32_t first = 0; first < size; first += together) {
      vector_bytes vectors[together];
#pragma unroll
      for (std::uint32_t i = 0; i < together; ++i)
        if (first + i < size) vectors[i] = load_vector(input(first + i) + at);
#pragma unroll
      for (std::uint32_t i = 0; i < together; ++i) {
        if (first + i >= size) continue;
        if (first + i == 0)
          how.begin(values, vectors[i]);
        else
          how.add(values, vectors[i]);
      }
    }
    put(at, how.finish(values));
  }
}

/// Element by element, at any address: [first, end) in elements; `put(index, value)`.
template <class Reduction, class Input, class Put>
__device__ void reduce_elements(const Reduction& how, std::uint32_t size, const Input& input,
                                std::uint64_t first, std::uint64_t end, const Put& put) {
  using storage = typename Reduction::storage;
  for (std::uint64_t i = first + blockIdx.x * threads_of_reduction + threadIdx.x; i < end;
       i += gridDim.x * threads_of_reduction) {
    auto value = how.enter(reinterpret_cast<const storage*>(input(0))[i]);
    for (std::uint32_t rank = 1; rank < size; ++rank)
      value = how.join(value, how.enter(reinterpret_cast<const storage*>(input(rank))[i]));
    put(i, how.leave(value));
  }
}

}  // namespace troupe::kernels::detail
