#include <algorithm>

#include "kernels/detail/kernel_launch_device.cuh"
#include "kernels/domain/detail/all_reduce_tasks.hpp"
#include "kernels/domain/detail/block_meeting_device.cuh"
#include "kernels/domain/detail/reduce_loops_device.cuh"
#include "kernels/element/element_device.cuh"
#include "kernels/element/type_table.hpp"

namespace troupe::kernels::detail {

namespace {

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
__global__ void __launch_bounds__(threads_of_reduction, 1)
    two_shot_all_reduce(const __grid_constant__ two_shot_all_reduce_task task) {
  using element = element_of<Type>;
  using storage = typename element::storage;
  follow_closely();
  const auto& members = task.members;
  auto& own = board_of(members, members.rank);
  const std::uint32_t round = own.meetings[blockIdx.x];
  meet(members, round + 1);  // everybody's contribution is there

  const vector_reduction<element, Kind> how(
      element_rule{task.work.op, task.work.scalar, members.size});
  const auto input = [&](std::uint32_t rank) { return task.send[rank]; };
  const auto put = [&](std::uint64_t at, const vector_bytes& out) {
    for (std::uint32_t rank = 0; rank < (IsPair ? 2 : members.size); ++rank)
      store_vector(task.receive[rank] + at, out);
  };
  const auto put_element = [&](std::uint64_t index, storage value) {
    for (std::uint32_t rank = 0; rank < members.size; ++rank)
      reinterpret_cast<storage*>(task.receive[rank])[index] = value;
  };
  const auto share = share_of(members.rank, members.size, task.work.count * sizeof(storage));
  const std::uint64_t whole = all_aligned(task) ? share.end / 16 * 16 : share.first;
  if constexpr (IsPair)
    reduce_pair(how, task.send[0], task.send[1], {share.first, whole}, put);
  else
    reduce_vectors(how, members.size, input, {share.first, whole}, put);
  reduce_elements(how, members.size, input, whole / sizeof(storage), share.end / sizeof(storage),
                  put_element);

  meet(members, round + 2);  // everybody's outcome is there, nobody reads any more
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
  if (task.members.size != 2)
    return launch(kernels->any, in, task.blocks, threads_of_reduction, task);
  const auto kernel = task.work.op == reduction::sum ? kernels->pair_sum : kernels->pair;
  return launch(kernel, in, task.blocks, threads_of_reduction, task);
}

result<void> load_two_shot_all_reduce() {
  for (const auto* const kernels : of_all_types<kernels_of>())
    for (const auto kernel : {kernels->pair_sum, kernels->pair, kernels->any})
      if (auto done = load(kernel); !done) return done;
  return {};
}

}  // namespace troupe::kernels::detail
