#pragma once

#include <functional>
#include <memory>

#include "actors/collector/operation_counters.hpp"
#include "actors/endpoint/endpoint_messages.hpp"
#include "config/options.hpp"
#include "runtime/instant.hpp"
#include "runtime/memory_ledger.hpp"
#include "runtime/rank_dump.hpp"
#include "runtime/slab.hpp"

namespace troupe::actors {

/// What a communicator's handle sees of its endpoint, in the process world and in simulation.
///
/// Thread: any.
class endpoint_door {
 public:
  virtual ~endpoint_door() = default;

  virtual endpoint_actor actor() const = 0;
  virtual const config::options& options() const = 0;
  virtual const operation_counters& operation_statistics() const = 0;
  virtual const memory_ledger& ledger() const = 0;

  /// See `communicator::dump`.
  virtual rank_dump dump() const = 0;

  /// Where works live.
  virtual const std::shared_ptr<shared_slab>& works() const = 0;

  /// True in a child of the process that opened the endpoint.
  virtual bool forked() const = 0;

  /// Drives the endpoint from the calling thread until `done`, at most `limit`; may return earlier.
  /// In simulation time passes only so. In the process world the worker's thread drives whenever
  /// nobody waits.
  virtual void drive_until(const std::function<bool()>& done, duration limit) = 0;

  /// Called after an operation was enqueued: the calling thread may give it its first steps.
  virtual void start_now() = 0;

  /// Ids that this endpoint has not used yet start here; raised by every split.
  virtual std::uint32_t next_communicator_id() = 0;
  virtual void raise_next_communicator_id(std::uint32_t above) = 0;
};

}  // namespace troupe::actors
