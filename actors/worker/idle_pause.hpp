#pragma once

#include <algorithm>
#include <chrono>

#include "runtime/instant.hpp"

namespace troupe::actors {

/// How a loop that found nothing passes the moment before it looks again: on its processor, or by
/// letting others run.
///
/// sched_yield costs 0.2 us if nobody else wants the processor and comes back after 1 us if another
/// polling loop does, so a loop that waits yields almost at once: with more ranks than processors
/// the peer it waits for may need this very one. It keeps the processor for the whole of `spin`
/// only after a yield that took long: somebody computes there, and would take a time slice of
/// milliseconds each time. (2-core virtual Xeon, Linux 6.18, 2026-11-30: p50 0.18 us alone, 1.06 us
/// with one, 1.72 us with two other loops on the processor.)
class idle_pause {
 public:
  enum class advice { spin, yield, sleep };

  /// What to do at `now`, `idle` after the last work: `spin` is the time to keep the processor if
  /// it is fought for, `yield` what may follow before it sleeps.
  advice next(duration idle, instant now, duration spin, duration yield) {
    if (yielded_) observe(now - asked_);
    asked_ = now;
    yielded_ = false;
    if (idle < std::min(greedy_ ? spin : prompt, spin)) return advice::spin;
    if (idle >= spin + yield) return advice::sleep;
    yielded_ = true;
    return advice::yield;
  }

  /// Something came meanwhile: how long the yield took says nothing.
  void worked() { yielded_ = false; }

 private:
  void observe(duration away) {
    if (away >= long_yield)
      greedy_ = true;
    else if (++short_yields_ % short_yield_count == 0)
      greedy_ = false;
  }

  static constexpr duration prompt = std::chrono::microseconds(1);
  static constexpr duration long_yield = std::chrono::microseconds(500);
  // Chosen: one who computes is met again after that many yields at the latest.
  static constexpr unsigned short_yield_count = 64;

  instant asked_{};
  bool yielded_ = false;
  bool greedy_ = false;
  unsigned short_yields_ = 0;
};

}  // namespace troupe::actors
