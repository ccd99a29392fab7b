#pragma once

#include "runtime/instant.hpp"

namespace troupe::actors {

/// Something the worker looks at between two messages, on its own thread: lanes, byte work,
/// mailboxes of kernels, the clock.
class poller {
 public:
  virtual ~poller() = default;

  /// Does what can be done without blocking, for at most about 100 us. True if anything was done.
  virtual bool poll(instant now) = 0;

  /// Lets go what was posted since the last poll and waits for the next one to share its cost. Does
  /// nothing else: a trainer's thread calls this when it has only begun an operation.
  virtual void release(instant) {}

  /// When `poll` must run again though nothing wakes the worker; `never` if there is no such time.
  virtual instant next_deadline() const = 0;

  /// As `next_deadline`, asked right before the worker sleeps: what comes from here to the next
  /// `poll` makes `wait_descriptor` readable.
  virtual instant prepare_to_wait() { return next_deadline(); }

  /// A descriptor that wakes a parked worker when readable; -1 if there is none.
  virtual int wait_descriptor() const { return -1; }
};

}  // namespace troupe::actors
