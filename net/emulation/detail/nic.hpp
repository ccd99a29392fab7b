#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <vector>

#include "net/emulation/detail/completion_queue.hpp"
#include "net/emulation/detail/device_faults.hpp"
#include "net/emulation/detail/event_queue.hpp"
#include "net/emulation/detail/memory_table.hpp"
#include "net/emulation/detail/peer.hpp"
#include "net/emulation/detail/queue_pair.hpp"
#include "net/emulation/detail/segment.hpp"
#include "net/emulation/network_model.hpp"

namespace troupe::net::emulation {

class nic;

/// What a program's `ibv_context*` points into.
struct nic_handle {
  verbs_context verbs{};
  nic* owner = nullptr;
};

nic& nic_of(ibv_context* context);

/// An open device. It works whenever somebody polls one of its completion queues, and a thread of
/// its own works when nobody does.
///
/// Thread: any; `lock` guards everything but what says otherwise. No call waits while it holds the
/// lock, except for a peer that moves bytes at that moment.
class nic {
 public:
  /// Null with errno if a socket, memory or a free number is missing.
  static std::unique_ptr<nic> open(ibv_device& device, std::uint32_t device_index);
  ~nic();
  nic(const nic&) = delete;
  nic& operator=(const nic&) = delete;

  ibv_context* context() { return &handle_.verbs.context; }
  std::uint32_t device_index() const { return device_index_; }
  std::uint32_t context_id() const { return doorway_.context_id(); }
  const segment& memory() const { return memory_; }

  std::mutex lock;
  memory_table regions;
  std::uint32_t pd_count = 0;
  std::uint32_t cq_count = 0;
  std::atomic<std::uint32_t> channel_count{0};
  event_queue<ibv_async_event> async_events;

  /// Puts a queue pair in a free slot. Errors: ENOMEM if there is none.
  int add(std::unique_ptr<queue_pair> qp);
  /// Takes it out again.
  std::unique_ptr<queue_pair> remove(queue_pair& qp);
  std::size_t qp_count() const { return active_.size(); }
  std::size_t qp_count_of(const ibv_pd* pd) const;

  /// Space for a send queue; give it back with `drop_ring`.
  std::optional<std::uint64_t> take_ring(std::uint64_t bytes) { return rings_.take(bytes); }
  void drop_ring(std::uint64_t offset, std::uint64_t bytes);

  /// The device behind a queue pair number, connected if need be; null if there is none.
  peer* find_peer(std::uint32_t qp_number);

  /// The slot of a queue pair as peers see it.
  qp_slot& slot_of(const queue_pair& qp) const { return memory_.slot(qp.slot); }
  /// Sees to it that `qp` is looked at by `due` at the latest.
  void schedule(queue_pair& qp, std::uint64_t due);

  /// Does what is due and what doorbells ask for.
  void progress();
  bool has_work() const;
  /// Somebody polls: the thread may rest.
  void note_poll() { polls_.fetch_add(1, std::memory_order_relaxed); }
  /// The same of a poll that found nothing; how many those were.
  std::uint64_t note_empty_poll() { return empty_polls_.fetch_add(1, std::memory_order_relaxed); }

  /// Changes how many completion queues want an event; they need the thread.
  void count_armed(int change);

  bool port_is_up() const { return memory_.header().port_is_up.load() != 0; }
  device_faults& faults() const { return faults_of(device_index_); }
  /// Until when our port sends what was posted before, by the receiver's distance.
  std::uint64_t& wire_free_at(distance far) { return wire_free_at_[static_cast<std::size_t>(far)]; }
  /// A random number below `limit`, from a seed that the settings give.
  std::uint64_t draw(std::uint64_t limit);

  /// Takes up that port or GID of the device changed, and tells the program.
  void take_changes(ibv_event_type event);
  /// Moves every queue pair that sends to the error state.
  void break_queue_pairs();

 private:
  nic(ibv_device& device, std::uint32_t device_index, doorway door, segment memory,
      descriptor wake);

  void fill_handle(ibv_device& device);
  void publish_addresses();
  void run();
  std::uint64_t time_to_sleep(bool others_poll);
  void sleep(bool others_poll);
  void wake();
  void serve(queue_pair& qp, std::uint64_t now);
  void serve_rung(std::uint64_t now);

  nic_handle handle_;
  std::uint32_t device_index_;
  doorway doorway_;
  segment memory_;
  descriptor wake_;
  ring_space rings_;
  std::array<std::unique_ptr<queue_pair>, slot_count> slots_;
  std::vector<queue_pair*> active_;
  std::uint32_t last_slot_ = 0;
  std::array<std::uint64_t, distance_count> wire_free_at_{};
  std::uint64_t random_ = 0;
  peer self_;
  std::unordered_map<std::uint32_t, std::unique_ptr<peer>> peers_;
  std::atomic<std::uint64_t> next_due_{never};
  std::atomic<std::uint64_t> sleeps_until_{0};
  std::atomic<std::uint64_t> polls_{0};
  std::atomic<std::uint64_t> empty_polls_{0};
  std::atomic<int> armed_{0};
  std::atomic<bool> rests_{false};
  std::atomic<bool> stops_{false};
  std::thread thread_;
};

}  // namespace troupe::net::emulation
