#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "runtime/instant.hpp"

namespace troupe::actors {

/// Who drives a worker's loop: its own thread, or, for the time of a wait, the thread that waits.
/// A waiter that drives finds its own result: no wake-up across cores (15-22 us on the test
/// machine) and no second runnable thread where cores are short. Exactly one thread drives at a
/// time; what one did is visible to the next.
///
/// Source: docs/decisions/0007-a-waiting-thread-drives.md.
class drive_baton {
 public:
  // -- the worker's own thread

  /// Waits until nobody else drives. A guest that comes and goes, as between two operations, is not
  /// raced for the baton: the worker naps, longer each time, and looks again. Whoever leaves it
  /// something to do wakes it.
  void take();
  void give() { driving_.unlock(); }
  bool guest_wants() const { return guest_.load(std::memory_order_relaxed); }

  /// Grows with every guest. Whoever is about to sleep compares it with what it was when it asked
  /// for its deadline: a guest in between moved deadlines and silenced doorbells.
  std::uint64_t visits() const { return visits_.load(std::memory_order_seq_cst); }

  // -- a waiting thread

  /// True if the caller drives now; false if another guest does, or the worker did not let go
  /// within `patience`.
  bool enter(duration patience);

  /// As `enter` without patience: false if anybody drives.
  bool try_enter();

  /// `hurry`: something is left to do that should not wait for the worker's nap to end.
  void leave(bool hurry);

  /// Ends the worker's nap, if it naps. Any thread.
  void wake_worker();

 private:
  void nap(duration length);

  std::mutex driving_;
  std::atomic<bool> guest_{false};
  // Futex of the napping worker: grows with every wake-up.
  std::atomic<std::uint32_t> wake_ups_{0};
  std::atomic<bool> napping_{false};
  std::atomic<std::uint64_t> visits_{0};
};

}  // namespace troupe::actors
