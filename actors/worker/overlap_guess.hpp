#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "runtime/instant.hpp"

namespace troupe::actors {

/// Guesses whether a trainer computes between its calls and its waits. If it does, a call has to
/// wake a napping worker, which otherwise would begin milliseconds late; if it waits at once, it
/// drives the operation itself, and a worker woken each time only takes its processor away (at 8
/// bytes, 2 ranks and 2 processors: 14 us an all-reduce instead of 9).
///
/// The guess is what was seen last: a gap between the first call not yet waited for and the next
/// wait, or the next call. Wrong once, it is right from then on.
/// Thread: any.
class overlap_guess {
 public:
  /// An operation was called; true if the worker should work meanwhile.
  bool called(instant now) {
    auto first = first_call_.load(std::memory_order_relaxed);
    if (first == none) first_call_.store(first = count_of(now), std::memory_order_relaxed);
    return overlaps_.load(std::memory_order_relaxed) || is_gap(first, now);
  }

  void waited(instant now) {
    const auto first = first_call_.exchange(none, std::memory_order_relaxed);
    if (first != none) overlaps_.store(is_gap(first, now), std::memory_order_relaxed);
  }

 private:
  // Chosen: above what a caller takes to issue a burst of calls, below what is worth overlapping.
  static constexpr duration gap = std::chrono::microseconds(50);
  static constexpr std::int64_t none = -1;

  static std::int64_t count_of(instant at) { return at.time_since_epoch().count(); }
  static bool is_gap(std::int64_t first, instant now) {
    return count_of(now) - first > gap.count();
  }

  std::atomic<std::int64_t> first_call_{none};
  std::atomic<bool> overlaps_{false};
};

}  // namespace troupe::actors
