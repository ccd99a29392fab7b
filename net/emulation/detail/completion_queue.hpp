#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "net/emulation/detail/event_queue.hpp"

namespace troupe::net::emulation {

struct queue_pair;
class nic;

/// A completion channel. The handle comes first: a program's `ibv_comp_channel*` points at it.
struct completion_channel {
  ibv_comp_channel handle{};
  event_queue<ibv_cq*> events;
};

/// A completion as it lies in its queue: with it, places of a work queue become free again.
struct completion {
  ibv_wc what{};
  queue_pair* owner = nullptr;
  bool is_receive = false;
  std::uint64_t index = 0;  ///< of the request in its work queue
};

/// A completion queue. The handle comes first: a program's `ibv_cq*` points at it. Everything but
/// `count` and the counters of events is guarded by the lock of its NIC.
struct completion_queue {
  enum class arming : std::uint8_t { none, solicited, any };

  ibv_cq handle{};
  nic* owner = nullptr;
  completion_channel* channel = nullptr;
  std::unique_ptr<completion[]> places;
  std::uint32_t first = 0;
  std::atomic<std::uint32_t> count{0};
  arming armed = arming::none;
  std::uint32_t users = 0;  ///< queue pairs that complete here

  std::mutex events_mutex;
  std::condition_variable events_acknowledged;
  std::uint32_t events_delivered = 0;

  std::uint32_t capacity() const { return static_cast<std::uint32_t>(handle.cqe); }

  /// Appends a completion and tells the channel if somebody asked. A queue without room is a wrong
  /// use: the completion would be lost.
  void push(const completion& what, bool is_solicited);
  /// Takes the oldest; there is one.
  completion pop();
  /// Removes what a queue pair left, as it is about to end.
  void forget(const queue_pair& owner);
};

}  // namespace troupe::net::emulation
