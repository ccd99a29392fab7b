#pragma once

#include <caf/execution_unit.hpp>
#include <caf/resumable.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "actors/worker/drive_baton.hpp"
#include "actors/worker/job_queue.hpp"
#include "actors/worker/overlap_guess.hpp"
#include "actors/worker/poller.hpp"
#include "actors/worker/quiet_clock.hpp"
#include "actors/worker/worker_counters.hpp"
#include "runtime/instant.hpp"

namespace troupe::actors {

/// How a polling worker waits.
struct polling_options {
  duration spin = std::chrono::microseconds(50);    ///< busy polling after the last work
  duration yield = std::chrono::microseconds(200);  ///< then sched_yield between polls; then park
};

/// CAF's side of the polling worker: a scheduler with one thread, on which every actor of its
/// actor system runs, and between them the pollers. An actor system has one such worker and an
/// endpoint has one actor system, so an actor cannot leave the thread of its endpoint.
///
/// A worker with nothing to do spins, then yields, then parks in poll(2) on its wake descriptor and
/// those of its pollers, at most until the earliest deadline.
///
/// Cost: a send on the worker's own thread takes no lock; from another thread a spin lock held for
/// one push, and a write(2) if the worker is parked.
class polling_coordinator : public caf::scheduler::abstract_coordinator {
 public:
  explicit polling_coordinator(caf::actor_system& system);
  ~polling_coordinator() override;

  /// For `actor_system_config::load`.
  static caf::actor_system::module* make(caf::actor_system& system, caf::detail::type_list<>);

  /// Takes effect before the next wait. Any thread; call once, before actors are spawned.
  void configure(const polling_options& options);

  instant now() const;
  instant recent() const { return recent_; }
  pthread_t thread_handle() { return thread_.native_handle(); }
  caf::execution_unit* unit() { return &unit_; }
  void add(poller& p);
  void remove(poller& p);
  void wake();

  /// The calling thread takes the worker's place until `done`, at most `limit`. Returns early, not
  /// done, if another thread does so already. `more`: whether work is left when it goes; called
  /// while nobody else drives. Any thread but the worker's own.
  void drive(const std::function<bool()>& done, duration limit, const std::function<bool()>& more);

  /// The calling thread gives what it just enqueued its first steps, if nobody drives: an operation
  /// is on the wire when its call returns. `more`: as `drive`. Any thread but the worker's own.
  void start_now(const std::function<bool()>& more);

  void set_counters(worker_counters* counters) { counters_.store(counters); }
  bool on_worker_thread() const { return std::this_thread::get_id() == thread_id_.load(); }

  caf::actor_clock& clock() noexcept override { return clock_; }
  bool detaches_utility_actors() const override { return false; }

 protected:
  void start() override;
  void stop() override;
  void enqueue(caf::resumable* job) override;

 private:
  struct local_unit : caf::execution_unit {
    explicit local_unit(caf::actor_system* system) : caf::execution_unit(system) {}
    void exec_later(caf::resumable* job) override;
    job_queue jobs;
    polling_coordinator* owner = nullptr;
  };

  void run();
  void serve_guest();
  duration spin() const { return duration(spin_ns_.load(std::memory_order_relaxed)); }
  bool run_round(instant at);
  void finish_messages();
  bool run_pollers(instant at);
  bool take_inbox();
  bool run_jobs();
  caf::resumable::resume_result run_job(caf::resumable& job);
  void park();
  void sleep_on_descriptors(instant until, std::uint64_t visits);
  instant prepare_to_wait();
  void drop_jobs();
  void collect_descriptors();

  local_unit unit_;
  std::vector<poller*> pollers_;
  std::size_t poller_index_ = 0;
  instant recent_{};
  unsigned turns_ = 0;
  // Of the pollers, read by a parked worker while a guest may drive: change only with the pollers.
  std::array<int, 8> wait_descriptors_{};
  std::size_t wait_descriptor_count_ = 0;

  std::atomic_flag inbox_lock_ = ATOMIC_FLAG_INIT;
  std::vector<caf::resumable*> inbox_;
  std::vector<caf::resumable*> batch_;
  std::atomic<bool> inbox_filled_{false};
  std::atomic<int> sleepers_{0};
  std::atomic<bool> stopping_{false};

  std::atomic<std::int64_t> spin_ns_;
  std::atomic<std::int64_t> yield_ns_;
  std::atomic<worker_counters*> counters_{nullptr};
  int wake_descriptor_ = -1;
  drive_baton baton_;
  overlap_guess guess_;
  std::atomic<std::thread::id> thread_id_{};  ///< who drives
  std::thread thread_;
  quiet_clock clock_;
};

}  // namespace troupe::actors
