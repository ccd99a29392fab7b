#pragma once

#include <cstdint>

namespace troupe::collectives {

/// Widest window there is: the mask of early ones has to cover it, and the effects of one step grow
/// with it (chosen: 16 chunks of 1 MiB are more than a fast wire holds in one round trip).
inline constexpr std::uint32_t window_width_max = 16;

/// Transfers that are posted in the order of their index and finish in any order. At most `width`
/// lie between the first unfinished one and the last posted one.
struct transfer_window {
  std::uint64_t posted = 0;    ///< index of the next to post
  std::uint64_t finished = 0;  ///< every index below is finished
  std::uint32_t early = 0;     ///< bit k: index `finished + k` is finished
  std::uint32_t width = 1;

  constexpr bool has_room() const { return posted - finished < width; }

  constexpr bool is_finished(std::uint64_t index) const {
    if (index < finished) return true;
    return index < posted && ((early >> (index - finished)) & 1u) != 0;
  }

  constexpr bool is_open(std::uint64_t index) const {
    return index < posted && !is_finished(index);
  }

  /// False, and nothing changes, if the index was not posted or is finished already.
  constexpr bool finish(std::uint64_t index) {
    if (!is_open(index)) return false;
    early |= 1u << (index - finished);
    while ((early & 1u) != 0) {
      early >>= 1;
      ++finished;
    }
    return true;
  }
};

}  // namespace troupe::collectives
