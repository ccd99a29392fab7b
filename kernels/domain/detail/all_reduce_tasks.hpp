#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/detail/recorder.hpp"
#include "kernels/domain/domain_layout.hpp"
#include "kernels/host_device.hpp"
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

struct byte_range {
  std::uint64_t first = 0;
  std::uint64_t end = 0;
};

/// The bytes that a member reduces: whole vectors of 16 in as many equal parts as there are
/// members, and what is left over for the last.
TROUPE_HOST_DEVICE constexpr byte_range share_of(std::uint32_t rank, std::uint32_t size,
                                                 std::uint64_t bytes) {
  const std::uint64_t vectors = bytes / 16;
  const std::uint64_t part = (vectors + size - 1) / size;
  const std::uint64_t first = rank * part < vectors ? rank * part : vectors;
  const std::uint64_t end = first + part < vectors ? first + part : vectors;
  return {first * 16, rank + 1 == size ? bytes : end * 16};
}

/// What is done to elements, and which.
struct reduction_task {
  data_type type = data_type::float32;
  reduction op = reduction::sum;
  double scalar = 1.0;  ///< premultiplied_sum
  std::uint64_t count = 0;

  friend bool operator==(const reduction_task&, const reduction_task&) = default;
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

/// Cuts a share into chunks for a pipeline: few bytes at first and at last, so that links and
/// kernel start early and end together, whole places between.
struct chunk_table {
  std::uint32_t count = 0;
  std::uint64_t ends[pipeline_chunks_max] = {};  ///< of each chunk, in bytes from the share's start

  std::uint64_t first(std::uint32_t chunk) const { return chunk == 0 ? 0 : ends[chunk - 1]; }
};

/// Errors: bad_argument if the share needs more than `pipeline_chunks_max` chunks.
result<chunk_table> cut_into_chunks(std::uint64_t share_bytes, std::uint64_t place_bytes);

struct pipelined_all_reduce_task {
  domain_members members;
  reduction_task work;
  const std::byte* send = nullptr;  ///< of this member's share
  std::byte* receive = nullptr;
  /// Places of each peer's contributions, in this member's staging memory.
  const std::byte* places[domain_ranks_max] = {};
  std::uint64_t place_bytes = 0;
  std::uint32_t blocks = 0;
  chunk_table chunks;
};

/// The resident kernel of an all-reduce whose bytes copy engines move: reduces the chunks of this
/// member's share as contributions come in, and says so to the copies that wait for the outcome.
///
/// Shape: chunks of send, the same of every peer's place -> receive; addresses multiples of 16.
/// Grid:  `blocks` of 512 threads, all resident.
/// Bytes: (P + 1) / P * bytes of local memory.
/// Order: by rank, in the type's working precision, rounded once.
/// Errors: bad_argument.
result<kernel_launch> pipelined_all_reduce_launch(pipelined_all_reduce_task& task);

/// Loads the kernels of each onto the current GPU, so that no launch does, which could wait for
/// whatever runs there.
result<void> load_small_all_reduce();
result<void> load_two_shot_all_reduce();
result<void> load_pipelined_all_reduce();

}  // namespace troupe::kernels::detail
