#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "net/fabric/fabric_options.hpp"
#include "runtime/instant.hpp"

namespace troupe::net {

/// When a frame has passed a port.
struct port_passage {
  instant head;  ///< its first byte left
  instant tail;  ///< its last byte left
};

/// The queue in front of a port of a switch: first come, first served, without a bound, and what
/// became of it. Frames cut through: a frame begins to leave while it still arrives.
class port_queue {
 public:
  explicit port_queue(std::uint64_t bytes_per_second) : bytes_per_second_(bytes_per_second) {}

  /// A frame of `bytes` arrives from `head` to `tail`. Heads come in order of time.
  port_passage pass(std::uint64_t bytes, instant head, instant tail);

  /// What the queue was like from `since` on, up to `until`.
  fabric_port_report report(instant until) const;

  std::uint64_t bytes_at(instant now) const { return bytes_in(free_at_ - now); }

  /// Forgets what was and begins to watch at `now`.
  void watch_from(instant now);

 private:
  // Four buckets an octave, from 1 KiB: bucket 0 is below.
  static constexpr std::size_t bucket_count = 4 * 32;

  static std::size_t bucket_of(std::uint64_t queue_bytes);
  static std::uint64_t upper_bound_of(std::size_t bucket);

  /// The queue drained from `queue_` at `seen_` to `now`.
  void drain(instant now);
  duration time_of(std::uint64_t bytes) const;
  std::uint64_t bytes_in(duration time) const;

  std::uint64_t bytes_per_second_;
  instant free_at_{};

  instant since_{};
  instant seen_{};
  std::uint64_t queue_ = 0;  ///< bytes, at `seen_`
  fabric_port_report totals_;
  std::array<std::uint64_t, bucket_count> nanoseconds_in_{};
};

}  // namespace troupe::net
