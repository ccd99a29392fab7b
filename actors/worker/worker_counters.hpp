#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/instant.hpp"

namespace troupe::actors {

/// The kinds of actors, as in metrics and traces.
enum class actor_kind : std::uint8_t {
  endpoint,
  rank,
  collective,
  qp_group,
  dqplb,
  bootstrap,
  watchdog,
  collector,
};

inline constexpr std::size_t actor_kind_count = 8;

constexpr std::string_view to_string(actor_kind kind) {
  constexpr std::array<std::string_view, actor_kind_count> names{
      "endpoint", "rank", "collective", "qp_group", "dqplb", "bootstrap", "watchdog", "collector"};
  return names[static_cast<std::size_t>(kind)];
}

/// A number that one thread writes and any thread may read: no lock, no read-modify-write.
class single_writer_counter {
 public:
  void add(std::uint64_t n) {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  void set(std::uint64_t n) { value_.store(n, std::memory_order_relaxed); }
  std::uint64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// What a worker counts about its actors. Written by the worker's thread only.
struct worker_counters {
  std::array<single_writer_counter, actor_kind_count> messages_handled;
  /// Mailbox depth of the actor of a kind that handled a message last, as it stood then.
  std::array<single_writer_counter, actor_kind_count> mailbox_depth;
  std::array<single_writer_counter, actor_kind_count> restarts;
  single_writer_counter polls;
  single_writer_counter parks;
  /// When the last round of polls and messages began, and whether the worker sleeps since.
  single_writer_counter last_round_ns;
  single_writer_counter parked;
  /// Rounds by the time since the one before, sleeping left out: bucket b holds gaps below 2^b us,
  /// the last one all above.
  static constexpr std::size_t gap_bucket_count = 20;
  std::array<single_writer_counter, gap_bucket_count> round_gaps;
  single_writer_counter round_gap_ns;
  /// One turn of an actor in `turn_sample_interval` is timed.
  static constexpr unsigned turn_sample_interval = 64;
  std::array<single_writer_counter, actor_kind_count> turns_timed;
  std::array<single_writer_counter, actor_kind_count> turn_ns;

  /// A round begins; `slept`: since the last one the worker had nothing to do.
  void on_round(instant at, bool slept) {
    const auto now = static_cast<std::uint64_t>(to_nanoseconds(at));
    if (!slept) {
      const auto gap = now - last_round_ns.get();
      const auto bucket = static_cast<std::size_t>(std::bit_width(gap / 1000));
      round_gaps[bucket < gap_bucket_count ? bucket : gap_bucket_count - 1].add(1);
      round_gap_ns.add(gap);
    }
    last_round_ns.set(now);
  }

  /// A turn of the actor that handled a message last took this long.
  void on_turn(duration spent) {
    turns_timed[last_kind_].add(1);
    turn_ns[last_kind_].add(static_cast<std::uint64_t>(spent.count()));
  }

  void handled(actor_kind kind) {
    last_kind_ = static_cast<std::size_t>(kind);
    messages_handled[last_kind_].add(1);
  }
  void restarted(actor_kind kind) { restarts[static_cast<std::size_t>(kind)].add(1); }

  std::uint64_t messages_of(actor_kind kind) const {
    return messages_handled[static_cast<std::size_t>(kind)].get();
  }

  std::uint64_t mailbox_depth_of(actor_kind kind) const {
    return mailbox_depth[static_cast<std::size_t>(kind)].get();
  }

  std::uint64_t messages_total() const {
    std::uint64_t sum = 0;
    for (const auto& one : messages_handled)
      sum += one.get();
    return sum;
  }

 private:
  std::size_t last_kind_ = 0;  ///< of the worker's thread
};

}  // namespace troupe::actors
