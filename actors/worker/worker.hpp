#pragma once

#include <array>
#include <cstdint>

#include "actors/caf_compat.hpp"
#include "actors/worker/poller.hpp"
#include "actors/worker/worker_counters.hpp"
#include "runtime/instant.hpp"

namespace troupe::actors {

/// The scheduler seam: where the actors of one endpoint run. Production has one thread with busy
/// polling and parking (`polling_worker`); simulation has virtual time and a seeded order
/// (`simulated_worker`). Nothing else in Troupe knows which one it is, nor the CAF scheduler.
///
/// Thread: the worker's own, except `wake`, `system` and reading `counters`.
class worker {
 public:
  virtual ~worker() = default;

  /// Time of this worker: steady in production, virtual in simulation.
  virtual instant now() const = 0;

  /// Time at which the worker last looked at its pollers: at most a round of messages (some 10 us)
  /// and one slice of byte work old. For deadlines and what they are compared with: a look at the
  /// clock for each step of each actor was 4 % of a small operation.
  virtual instant recent() const { return now(); }

  virtual caf::actor_system& system() = 0;

  /// What `post` needs to queue a receiver on this very thread without a lock; null where the
  /// scheduler does it.
  virtual caf::execution_unit* unit() = 0;

  /// Pollers are polled in the order in which they were added. A poller removes itself before it
  /// dies, also from within its own `poll`.
  virtual void add(poller& p) = 0;
  virtual void remove(poller& p) = 0;

  /// Makes a parked worker look again. Any thread.
  virtual void wake() = 0;

  /// An actor of this kind handles a message now. Counts it; in simulation also part of the trace.
  virtual void on_message(actor_kind kind) { counters_.handled(kind); }

  worker_counters& counters() { return counters_; }
  const worker_counters& counters() const { return counters_; }

 private:
  worker_counters counters_;
};

}  // namespace troupe::actors
