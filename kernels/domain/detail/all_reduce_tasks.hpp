#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/domain/domain_layout.hpp"
#include "kernels/stream_ref.hpp"
#include "runtime/data_type.hpp"
#include "runtime/result.hpp"

namespace troupe::kernels::detail {

/// What every kernel of a domain is given.
struct domain_members {
  std::uint32_t rank = 0;
  std::uint32_t size = 0;
  std::byte* boards[domain_ranks_max] = {};  ///< of each member, as this GPU reaches it
  const std::uint32_t* aborted = nullptr;    ///< host_board::aborted
};

/// What is done to elements, and which.
struct reduction_task {
  data_type type = data_type::float32;
  reduction op = reduction::sum;
  double scalar = 1.0;  ///< premultiplied_sum
  std::uint64_t count = 0;
};

struct small_all_reduce_task {
  domain_members members;
  reduction_task work;
  const std::byte* send = nullptr;
  std::byte* receive = nullptr;
};

/// All-reduce of up to `small_bytes_max` bytes in one step: every member writes its contribution,
/// with flags in the data, into the board of every other, and reduces what comes in.
///
/// Shape: send[count] -> receive[count]; any alignment; in place or apart.
/// Grid:  a block for each 512 words of 8 bytes, of up to 512 threads.
/// Bytes: 2 * bytes to each peer.
/// Order: by rank, in the type's working precision, rounded once: the same bits everywhere.
/// Errors: bad_argument above the size; system_failure if the launch is refused.
/// Thread: any; enters CUDA.
/// Source: the protocol LL of NCCL (src/device/prims_ll.h), as described in its documentation.
result<void> launch_small_all_reduce(stream_ref in, const small_all_reduce_task& task);

struct two_shot_all_reduce_task {
  domain_members members;
  reduction_task work;
  const std::byte* send[domain_ranks_max] = {};  ///< of each member, as this GPU reaches it
  std::byte* receive[domain_ranks_max] = {};
  std::uint32_t blocks = 0;  ///< the same at every member
};

/// All-reduce in which each member reads its share of every contribution where it lies, reduces it
/// and writes the outcome to everybody. Nothing is staged.
///
/// Shape: send[count] -> receive[count]; in place or apart. Where an address is not a multiple of
///        16, elements move one by one.
/// Grid:  `blocks` of 512 threads: as many as saturate the links (8) or few beside a computation.
/// Bytes: (P-1)/P * bytes read from peers and as many written to them.
/// Order: by rank, in the type's working precision, rounded once: the same bits everywhere.
/// Errors: bad_argument, system_failure if the launch is refused.
/// Thread: any; enters CUDA.
result<void> launch_two_shot_all_reduce(stream_ref in, const two_shot_all_reduce_task& task);

/// Loads the kernels of both onto the current GPU, so that no launch does, which could wait for
/// whatever runs there.
result<void> load_small_all_reduce();
result<void> load_two_shot_all_reduce();

}  // namespace troupe::kernels::detail
