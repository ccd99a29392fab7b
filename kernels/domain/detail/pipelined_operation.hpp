#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/detail/driver_calls.hpp"
#include "kernels/device/stream.hpp"
#include "kernels/domain/detail/all_reduce_tasks.hpp"
#include "kernels/domain/detail/kept_graphs.hpp"

namespace troupe::kernels::detail {

/// Members of a pipelined all-reduce at most. Two copies for each peer and the kernel wait for each
/// other, so each needs a queue of the GPU to itself, of which there are few: with three members on
/// one GPU they were too few, and the operation hung (measured, H200, 2026-11-30).
inline constexpr std::uint32_t pipelined_ranks_max = 2;

/// One all-reduce of a member: whose bytes lie where, as this GPU reaches them.
struct pipelined_plan {
  reduction_task work;
  std::array<std::byte*, domain_ranks_max> send{};
  std::array<std::byte*, domain_ranks_max> receive{};
  std::uint32_t blocks = 0;

  friend bool operator==(const pipelined_plan&, const pipelined_plan&) = default;
};

/// Large all-reduces. Copy engines bring the contributions to a share to its owner, chunk by chunk;
/// a resident kernel reduces; copy engines spread the outcome. All of it is one graph: nothing of
/// it waits for a call of the host.
class pipelined_operation {
 public:
  /// `place_bytes` is a multiple of 16, the same at every member.
  static outcome<pipelined_operation> create(int device, const domain_members& members,
                                             host_board& board, std::uint64_t place_bytes);

  /// Errors: bad_argument for too many chunks; system_failure.
  outcome<void> start(stream_ref in, const pipelined_plan& plan);

 private:
  result<void> enqueue(recorder& to, stream_ref in, const pipelined_plan& plan);
  result<void> contribute(recorder& to, stream_ref in, const pipelined_plan& plan,
                          std::uint32_t peer);
  result<void> spread(recorder& to, stream_ref in, const pipelined_plan& plan, std::uint32_t peer);
  result<void> reduce(recorder& to, stream_ref in, const pipelined_plan& plan);
  result<chunk_table> chunks_of(const pipelined_plan& plan, std::uint32_t rank) const;
  domain_board& board_of(std::uint32_t rank) const;
  std::byte* place_of(std::uint32_t owner, std::uint32_t source) const;

  driver_calls calls_;
  domain_members members_;
  host_board* host_ = nullptr;
  std::uint64_t place_bytes_ = 0;
  stream recording_;
  stream reducing_;              ///< of high priority: its few blocks go before a computation's
  std::vector<stream> copying_;  ///< two for each peer
  kept_graphs<pipelined_plan> graphs_;
};

/// Staging memory of a member.
constexpr std::uint64_t staging_bytes(std::uint32_t ranks, std::uint64_t place_bytes) {
  return ranks > pipelined_ranks_max ? 0 : (ranks - 1) * pipeline_depth * place_bytes;
}

}  // namespace troupe::kernels::detail
