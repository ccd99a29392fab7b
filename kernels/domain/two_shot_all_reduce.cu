#include <algorithm>

#include "kernels/detail/kernel_launch_device.cuh"
#include "kernels/domain/detail/all_reduce_tasks.hpp"
#include "kernels/domain/detail/block_meeting_device.cuh"
#include "kernels/element/element_device.cuh"
#include "kernels/element/type_table.hpp"
#include "kernels/element/vector_reduction_device.cuh"

namespace troupe::kernels::detail {

namespace {

constexpr std::uint32_t threads_of_block = 512;

/// One tile of 512 threads times `Vectors` of 16 bytes from `at` on, for two members: every load is
/// under way before the first is used.
template <int Vectors, class Reduction>
__device__ void reduce_tile_of_two(const two_shot_all_reduce_task& task, const Reduction& how,
                                   std::uint64_t at, std::uint64_t end) {
  constexpr std::uint64_t stride = threads_of_block * 16;
  vector_bytes left[Vectors];
  vector_bytes right[Vectors];
#pragma unroll
  for (int v = 0; v < Vectors; ++v)
    if (at + v * stride < end) {
      left[v] = load_vector(task.send[0] + at + v * stride);
      right[v] = load_vector(task.send[1] + at + v * stride);
    }
#pragma unroll
  for (int v = 0; v < Vectors; ++v)
    if (at + v * stride < end) {
      const auto out = how.of_two(left[v], right[v]);
      store_vector(task.receive[0] + at + v * stride, out);
      store_vector(task.receive[1] + at + v * stride, out);
    }
}

/// The same for any number of members: one vector of a thread at a time, of every member at once.
template <class Reduction>
__device__ void reduce_vector(const two_shot_all_reduce_task& task, const Reduction& how,
                              std::uint64_t at) {
  constexpr std::uint32_t together = 4;
  typename Reduction::work values[Reduction::elements];
  for (std::uint32_t first = 0; first < task.members.size; first += together) {
    vector_bytes vectors[together];
#pragma unroll
    for (std::uint32_t i = 0; i < together; ++i)
      if (first + i < task.members.size) vectors[i] = load_vector(task.send[first + i] + at);
#pragma unroll
    for (std::uint32_t i = 0; i < together; ++i) {
      if (first + i >= task.members.size) continue;
      if (first + i == 0)
        how.begin(values, vectors[i]);
      else
        how.add(values, vectors[i]);
    }
  }
  const auto out = how.finish(values);
  for (std::uint32_t step = 0; step < task.members.size; ++step)
    store_vector(task.receive[(task.members.rank + step) % task.members.size] + at, out);
}

/// Element by element, at any address.
template <class Reduction>
__device__ void reduce_elements(const two_shot_all_reduce_task& task, const Reduction& how,
                                std::uint64_t first, std::uint64_t end, std::uint64_t stride) {
  using storage = typename Reduction::storage;
  for (std::uint64_t i = first; i < end; i += stride) {
    auto value = how.enter(reinterpret_cast<const storage*>(task.send[0])[i]);
    for (std::uint32_t source = 1; source < task.members.size; ++source)
      value = how.join(value, how.enter(reinterpret_cast<const storage*>(task.send[source])[i]));
    for (std::uint32_t rank = 0; rank < task.members.size; ++rank)
      reinterpret_cast<storage*>(task.receive[rank])[i] = how.leave(value);
  }
}

/// The share of a member, in bytes: vectors of 16 bytes in as many equal parts as there are
/// members.
struct byte_range {
  std::uint64_t first;
  std::uint64_t end;
};

__device__ byte_range share_of(const domain_members& members, std::uint64_t bytes) {
  const std::uint64_t vectors = bytes / 16;
  const std::uint64_t share = (vectors + members.size - 1) / members.size;
  const std::uint64_t first = min(members.rank * share, vectors);
  return {first * 16, min(first + share, vectors) * 16};
}

__device__ bool all_aligned(const two_shot_all_reduce_task& task) {
  std::uintptr_t bits = 0;
  for (std::uint32_t rank = 0; rank < task.members.size; ++rank)
    bits |= reinterpret_cast<std::uintptr_t>(task.send[rank]) |
            reinterpret_cast<std::uintptr_t>(task.receive[rank]);
  return bits % 16 == 0;
}

// Tiles of 512 threads times `vectors_in_flight` go round the blocks. At most 128 registers, so
// that a block fits whatever else a multiprocessor runs; no shared memory.
template <data_type Type, rule_kind Kind, bool IsPair>
__global__ void __launch_bounds__(threads_of_block, 1)
    two_shot_all_reduce(const __grid_constant__ two_shot_all_reduce_task task) {
  using element = element_of<Type>;
  constexpr std::uint64_t size = sizeof(typename element::storage);
  follow_closely();
  auto& own = board_of(task.members, task.members.rank);
  const std::uint32_t round = own.meetings[blockIdx.x];
  meet(task.members, round + 1);  // everybody's contribution is there

  const vector_reduction<element, Kind> how(
      element_rule{task.work.op, task.work.scalar, task.members.size});
  const std::uint64_t bytes = task.work.count * size;
  const auto share = share_of(task.members, bytes);
  const std::uint64_t number = blockIdx.x * threads_of_block + threadIdx.x;
  if (!all_aligned(task)) {
    reduce_elements(task, how, share.first / size + number, share.end / size,
                    gridDim.x * threads_of_block);
  } else if constexpr (IsPair) {
    constexpr int vectors = decltype(how)::vectors;
    constexpr std::uint64_t tile = std::uint64_t{threads_of_block} * 16 * vectors;
    for (std::uint64_t at = share.first + blockIdx.x * tile; at < share.end; at += gridDim.x * tile)
      reduce_tile_of_two<vectors>(task, how, at + threadIdx.x * 16, share.end);
  } else {
    for (std::uint64_t at = share.first + number * 16; at < share.end;
         at += std::uint64_t{gridDim.x} * threads_of_block * 16)
      reduce_vector(task, how, at);
  }
  // What is no whole vector is the last member's.
  if (task.members.rank + 1 == task.members.size)
    reduce_elements(task, how, bytes / 16 * (16 / size) + number, task.work.count,
                    gridDim.x * threads_of_block);

  meet(task.members, round + 2);  // everybody's outcome is there, nobody reads any more
  if (threadIdx.x == 0) own.meetings[blockIdx.x] = round + 2;
}

using kernel = task_kernel<two_shot_all_reduce_task>;

/// The kernels of one type.
struct type_kernels {
  kernel pair_sum;
  kernel pair;
  kernel any;
};

template <data_type Type>
struct kernels_of {
  static const type_kernels* get() {
    static const type_kernels all{
        .pair_sum = &two_shot_all_reduce<Type, kind_for_sums<element_of<Type>>, true>,
        .pair = &two_shot_all_reduce<Type, rule_kind::any, true>,
        .any = &two_shot_all_reduce<Type, rule_kind::any, false>,
    };
    return &all;
  }
};

}  // namespace

result<void> launch_two_shot_all_reduce(stream_ref in, const two_shot_all_reduce_task& task) {
  const auto* const kernels = of_type<kernels_of>(task.work.type);
  if (kernels == nullptr || task.blocks == 0 || task.blocks > meeting_blocks_max)
    return fail(errc::bad_argument);
  if (task.members.size != 2) return launch(kernels->any, in, task.blocks, threads_of_block, task);
  const auto kernel = task.work.op == reduction::sum ? kernels->pair_sum : kernels->pair;
  return launch(kernel, in, task.blocks, threads_of_block, task);
}

result<void> load_two_shot_all_reduce() {
  for (const auto* const kernels : of_all_types<kernels_of>())
    for (const auto kernel : {kernels->pair_sum, kernels->pair, kernels->any})
      if (auto done = load(kernel); !done) return done;
  return {};
}

}  // namespace troupe::kernels::detail
