#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

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

  void handled(actor_kind kind) { messages_handled[static_cast<std::size_t>(kind)].add(1); }
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
};

}  // namespace troupe::actors
