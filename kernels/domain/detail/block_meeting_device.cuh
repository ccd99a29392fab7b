#pragma once

#include "kernels/device/system_memory_device.cuh"
#include "kernels/domain/detail/all_reduce_tasks.hpp"

namespace troupe::kernels::detail {

__device__ inline domain_board& board_of(const domain_members& members, std::uint32_t rank) {
  return *reinterpret_cast<domain_board*>(members.boards[rank]);
}

/// Polls between two looks at the word that frees all waits, which lies across the host's bus.
inline constexpr std::uint32_t polls_between_looks = 1024;

__device__ inline bool gives_up(const domain_members& members, std::uint32_t polls) {
  return polls % polls_between_looks == 0 && load_relaxed(members.aborted) != 0;
}

/// Lets the next kernel of the stream be scheduled while this one runs, and waits until the one
/// before is over. Without effect unless the launch asked for it.
__device__ inline void follow_closely() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

/// Blocks of the same number at all members wait for each other. What any of their threads wrote
/// before is there for all of them after. An aborted domain ends the wait early.
__device__ inline void meet(const domain_members& members, std::uint32_t round) {
  __syncthreads();
  const std::uint32_t peer = threadIdx.x;
  if (peer < members.size && peer != members.rank) {
    __threadfence_system();
    store_release(&board_of(members, peer).arrived[blockIdx.x][members.rank], round);
    const auto* const arrived = &board_of(members, members.rank).arrived[blockIdx.x][peer];
    for (std::uint32_t polls = 1; static_cast<std::int32_t>(load_acquire(arrived) - round) < 0;
         ++polls)
      if (gives_up(members, polls)) break;
  }
  __syncthreads();
}

}  // namespace troupe::kernels::detail
