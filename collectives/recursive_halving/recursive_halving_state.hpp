#pragma once

#include <cstdint>

#include "collectives/collective_task.hpp"
#include "collectives/recursive_doubling/recursive_doubling_state.hpp"

namespace troupe::collectives {

/// Where one rank stands in an all_reduce that halves, then doubles. Ranks are folded and numbered
/// as in recursive doubling. The buffer is worked off in segments of `chunk_bytes`. In round j of k
/// a rank exchanges halves of what it still works on with number ^ 2^j, keeps the lower half if its
/// bit j is clear, and combines; then the halves come back in the opposite order.
///
/// Phases of a segment: 0 folds, 1 to k halve, k + 1 to 2 k double (k + 1 is round k - 1), 2 k + 1
/// returns the result to a folded rank. Bit p of a mask speaks of phase p of the current segment.
/// Where a half is empty nothing is sent: its bits are set at once.
struct recursive_halving_state {
  enum class role : std::uint8_t { active, active_with_folded, folded };
  enum class bytes_work : std::uint8_t { none, scaling, combining };

  std::uint32_t round_count = 0;
  std::uint32_t folded_pair_count = 0;
  std::uint32_t number = 0;  ///< among the active ranks
  std::uint64_t segment_count = 0;
  role part = role::active;
  std::uint64_t segment = 0;
  std::uint64_t puts_posted = 0;
  std::uint64_t puts_finished = 0;
  std::uint64_t accepts_posted = 0;
  std::uint64_t accepts_finished = 0;
  std::uint32_t next_combine = 0;  ///< phase whose arrival is combined next
  bytes_work working = bytes_work::none;
  bool scaled = false;  ///< own input of this segment is scaled, or needs no scaling

  std::uint32_t phase_count() const { return 2 * round_count + 2; }
};

recursive_halving_state make_recursive_halving_state(const collective_task& task);

/// Bytes of scratch that a plan of this algorithm needs: a folded segment, and the arrivals of all
/// rounds of a segment side by side.
std::uint64_t recursive_halving_scratch_bytes(const plan& what);

}  // namespace troupe::collectives
