#pragma once

#include <chrono>
#include <cstdint>

namespace troupe {

/// Every length of time in Troupe, in nanoseconds.
using duration = std::chrono::nanoseconds;

/// The clock that `instant` belongs to. It has no `now()`: a core is told the time, it never
/// asks, so that the same core runs under virtual time. The worker of `actors/` owns the answer.
struct worker_clock {
  using rep = std::chrono::nanoseconds::rep;
  using period = std::chrono::nanoseconds::period;
  using duration = std::chrono::nanoseconds;
  using time_point = std::chrono::time_point<worker_clock, duration>;
  static constexpr bool is_steady = true;
};

/// A point on the worker's clock. Only differences mean anything.
using instant = worker_clock::time_point;

/// Never: the deadline of something that has none (a timer that is not armed).
inline constexpr instant never = instant::max();

constexpr std::int64_t to_nanoseconds(instant t) {
  return t.time_since_epoch().count();
}

/// `t + d`, stopping at `never` where the sum would wrap.
constexpr instant saturating_add(instant t, duration d) {
  return d.count() > 0 && t > never - d ? never : t + d;
}

}  // namespace troupe
