#pragma once

#include <cstdint>

#include "collectives/collective_task.hpp"

namespace troupe::collectives {

/// How the ranks of a recursive doubling are arranged. P ranks that are no power of two are folded:
/// the first 2 (P - 2^k) of them form pairs, whose odd member hands its input to the even one and
/// gets the result back. The 2^k active ranks are numbered in rank order and exchange in rounds.
///
/// Phases of a segment: 0 folds, 1 to `round_count` exchange, `round_count + 1` returns results.
struct recursive_doubling_shape {
  std::uint32_t round_count = 0;
  std::uint32_t folded_pair_count = 0;
  std::uint64_t segment_count = 0;

  std::uint32_t phase_count() const { return round_count + 2; }
};

recursive_doubling_shape recursive_doubling_shape_of(const plan& what);

/// Where one rank stands. The buffer is worked off in segments of `chunk_bytes`, one after the
/// other; bit p of a mask speaks of phase p of the current segment.
struct recursive_doubling_state {
  enum class role : std::uint8_t { active, active_with_folded, folded };
  enum class bytes_work : std::uint8_t { none, scaling, combining };

  recursive_doubling_shape shape;
  role part = role::active;
  std::uint64_t segment = 0;
  std::uint64_t puts_posted = 0;
  std::uint64_t puts_finished = 0;
  std::uint64_t accepts_posted = 0;
  std::uint64_t accepts_finished = 0;
  std::uint32_t next_combine = 0;  ///< phase whose arrival is combined next
  bytes_work working = bytes_work::none;
  bool scaled = false;  ///< own input of this segment is scaled, or needs no scaling
};

recursive_doubling_state make_recursive_doubling_state(const collective_task& task);

}  // namespace troupe::collectives
