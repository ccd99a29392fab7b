#include <algorithm>

#include "kernels/detail/kernel_launch_device.cuh"
#include "kernels/domain/detail/all_reduce_tasks.hpp"
#include "kernels/domain/detail/block_meeting_device.cuh"
#include "kernels/domain/detail/reduce_loops_device.cuh"
#include "kernels/element/element_device.cuh"
#include "kernels/element/type_table.hpp"

namespace troupe::kernels::detail {

namespace {

/// Threads that wait for one peer each; then the whole block has what they waited for. False if the
/// domain was aborted.
__device__ bool wait_for_contributions(const domain_members& members, domain_board& own,
                                       std::uint32_t chunk) {
  bool given_up = false;
  if (threadIdx.x < members.size && threadIdx.x != members.rank) {
    const auto* const flag = &own.contributed[threadIdx.x][chunk];
    for (std::uint32_t polls = 1; load_acquire(flag) == 0 && !given_up; ++polls)
      given_up = gives_up(members, polls);
  }
  return __syncthreads_or(given_up) == 0;
}

/// The last block that is done with a chunk tells everybody who waits for it.
__device__ void tell(const pipelined_all_reduce_task& task, domain_board& own,
                     std::uint32_t chunk) {
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence_system();
  if (atomicAdd(&own.blocks_done[chunk], 1) + 1 < gridDim.x) return;
  __threadfence_system();
  own.blocks_done[chunk] = 0;
  for (std::uint32_t peer = 0; peer < task.members.size; ++peer) {
    if (peer == task.members.rank) continue;
    store_relaxed(&own.contributed[peer][chunk], 0);
    store_release(&own.reduced[peer][chunk], 1);
    // Somebody waits for the place only if another chunk comes into it.
    if (chunk + pipeline_depth < task.chunks.count)
      store_release(&board_of(task.members, peer).freed[task.members.rank][chunk], 1);
  }
}

/// Copy engines cannot look at the word that ends all waits: they get what they wait for.
__device__ void free_copies(domain_board& own) {
  constexpr std::uint32_t words = domain_ranks_max * pipeline_chunks_max;
  for (std::uint32_t i = threadIdx.x; i < words; i += blockDim.x) {
    store_relaxed(&own.reduced[0][0] + i, 1);
    store_relaxed(&own.freed[0][0] + i, 1);
  }
}

// Blocks of 512 threads, all resident, go through the chunks together; at most 128 registers, no
// shared memory.
template <data_type Type, rule_kind Kind, bool IsPair>
__global__ void __launch_bounds__(threads_of_reduction, 1)
    pipelined_all_reduce(const __grid_constant__ pipelined_all_reduce_task task) {
  using element = element_of<Type>;
  using storage = typename element::storage;
  const auto& members = task.members;
  auto& own = board_of(members, members.rank);
  const vector_reduction<element, Kind> how(
      element_rule{task.work.op, task.work.scalar, members.size});
  for (std::uint32_t chunk = 0; chunk < task.chunks.count; ++chunk) {
    if (!wait_for_contributions(members, own, chunk)) {
      free_copies(own);
      return;
    }
    const std::uint64_t first = chunk == 0 ? 0 : task.chunks.ends[chunk - 1];
    const std::uint64_t bytes = task.chunks.ends[chunk] - first;
    const std::uint64_t place = chunk % pipeline_depth * task.place_bytes;
    const auto input = [&](std::uint32_t rank) {
      return rank == members.rank ? task.send + first : task.places[rank] + place;
    };
    auto* const out = task.receive + first;
    const auto put = [&](std::uint64_t at, const vector_bytes& value) {
      store_vector(out + at, value);
    };
    const auto put_element = [&](std::uint64_t i, storage value) {
      reinterpret_cast<storage*>(out)[i] = value;
    };
    const std::uint64_t whole = bytes / 16 * 16;
    if constexpr (IsPair)
      reduce_pair(how, input(0), input(1), {0, whole}, put);
    else
      reduce_vectors(how, members.size, input, {0, whole}, put);
    reduce_elements(how, members.size, input, whole / sizeof(storage), bytes / sizeof(storage),
                    put_element);
    tell(task, own, chunk);
  }
}

using kernel = task_kernel<pipelined_all_reduce_task>;

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
        .pair_sum = &pipelined_all_reduce<Type, kind_for_sums<element_of<Type>>, true>,
        .pair = &pipelined_all_reduce<Type, rule_kind::any, true>,
        .any = &pipelined_all_reduce<Type, rule_kind::any, false>,
    };
    return &all;
  }
};

}  // namespace

result<kernel_launch> pipelined_all_reduce_launch(pipelined_all_reduce_task& task) {
  const auto* const kernels = of_type<kernels_of>(task.work.type);
  if (kernels == nullptr || task.blocks == 0 || task.blocks > meeting_blocks_max)
    return fail(errc::bad_argument);
  auto kernel = kernels->any;
  if (task.members.size == 2)
    kernel = task.work.op == reduction::sum ? kernels->pair_sum : kernels->pair;
  return kernel_launch{reinterpret_cast<const void*>(kernel), task.blocks, threads_of_reduction,
                       &task};
}

result<void> load_pipelined_all_reduce() {
  for (const auto* const kernels : of_all_types<kernels_of>())
    for (const auto kernel : {kernels->pair_sum, kernels->pair, kernels->any})
      if (auto done = load(kernel); !done) return done;
  return {};
}

}  // namespace troupe::kernels::detail
