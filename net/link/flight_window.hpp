#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "runtime/instant.hpp"

namespace troupe::net {

/// How many bytes one link may keep in flight.
struct flight_window_options {
  bool adapts = false;  ///< false: as many as `ceiling_bytes`, whatever latencies say
  std::uint64_t start_bytes = 64 * 1024;
  std::uint64_t floor_bytes = 32 * 1024;
  std::uint64_t ceiling_bytes = 1ull << 40;
  /// A base latency that was not seen for so long is measured anew, with a quarter in flight.
  /// Chosen: a measurement is two round trips at a quarter of the rate, below 1 % of this at the
  /// longest round trip of docs/dqplb.md.
  duration base_lifetime = std::chrono::milliseconds(100);
};

/// The bytes of segments that a link keeps in flight, found from how long its writes take.
///
/// Law. A round ends when a write that was posted in it completes. Of each round two things are
/// kept: the bytes that completed in it over its length (rate), and the shortest time from post to
/// completion (latency). The window is
///
///     `headroom` * (highest rate of the last three rounds) * (lowest latency known)
///
/// between floor and ceiling: what the narrowest place of the path carries while one write crosses
/// it empty, and a quarter more, by which a larger share is found when there is one. A link begins
/// with doubling rounds until a queue shows (latency a quarter above the lowest) or the rate stops
/// growing. Rounds in which the owner had nothing to send, or was held back by something else, can
/// only raise the rate.
///
/// The lowest latency is forgotten and measured anew, with a quarter of the window, when it is
/// `base_lifetime` old, or when eight rounds in a row took half as long again: then the path became
/// longer. One that became shorter shows at the next measurements, since the own queue hides it.
///
/// Source: the model of Cardwell et al., "BBR: Congestion-Based Congestion Control", ACM Queue
///         14(5), 2016, here with a window and no pacing.
/// Cost:   O(1) a write, no allocation.
class flight_window {
 public:
  explicit flight_window(const flight_window_options& options)
      : options_(options), bytes_(options.adapts ? options.start_bytes : options.ceiling_bytes) {}

  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t in_flight() const { return in_flight_; }
  std::uint64_t available() const { return bytes_ > in_flight_ ? bytes_ - in_flight_ : 0; }
  bool adapts() const { return options_.adapts; }

  /// Shortest latency known; zero before the first.
  duration base_latency() const { return base_ == unknown_latency ? duration::zero() : base_; }

  void on_posted(std::uint64_t bytes, instant now);

  /// A write of so many bytes that was posted at `posted_at` is done.
  void on_completed(std::uint64_t bytes, instant posted_at, instant now);

  /// A write was lost with its lane: it says nothing about the path.
  void on_lost(std::uint64_t bytes) { in_flight_ -= bytes; }

  /// There was something to post and the window had no room for it.
  void on_held_back() { held_back_ = true; }

 private:
  enum class phase : std::uint8_t { starting, cruising, draining, measuring };

  static constexpr duration unknown_latency = duration::max();

  void begin_round(instant now);
  void end_round(instant now);
  void note_rate(double rate);
  bool must_leave_start(double rate);
  void start(double rate);
  void cruise(instant now);
  void set_window(double bytes);
  double target(double gain) const;

  flight_window_options options_;
  std::uint64_t bytes_;
  std::uint64_t in_flight_ = 0;
  phase phase_ = phase::starting;

  duration base_ = unknown_latency;
  instant base_at_{};
  std::array<double, 3> rates_{};  ///< bytes per nanosecond, latest first
  std::uint32_t flat_rounds_ = 0;
  std::uint32_t slow_rounds_ = 0;

  bool in_round_ = false;
  instant round_began_{};
  std::uint64_t round_bytes_ = 0;
  duration round_latency_ = unknown_latency;
  bool held_back_ = false;
};

}  // namespace troupe::net
