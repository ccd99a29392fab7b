#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/instant.hpp"
#include "runtime/operation.hpp"
#include "runtime/result.hpp"

namespace troupe {

/// One operation that was started. Buffers of the call belong to the runtime until the work is
/// done. Dropping the handle neither waits nor cancels.
///
/// Thread: any; several threads may wait for the same work.
class work {
 public:
  virtual ~work() = default;

  /// Waits until the operation is done, at most `limit`. Errors: those of the operation, or
  /// timed_out if `limit` passed first (the operation goes on).
  virtual outcome<void> wait(duration limit) = 0;

  /// `wait` with the communicator's operation timeout and one second of grace, so that the
  /// operation's own error, which says what it waited for, comes first.
  virtual outcome<void> wait() = 0;

  /// True once the operation is done, with or without error. Never blocks.
  virtual bool test() const = 0;

  /// Why the operation failed; code ok while it runs and after it succeeded.
  virtual failure error() const = 0;

  /// The ranks whose input is part of the result, ascending; empty until the work is done or if it
  /// failed. Of an all_reduce in a fault-tolerant communicator: the names of its members.
  virtual std::vector<rank> contributors() const = 0;

  /// The epoch that the result was computed in; of a work that is not done, that of its call.
  virtual troupe::epoch epoch() const = 0;

  /// The path the operation took. Valid once the operation was started on the worker; before that
  /// its algorithm is `none`.
  virtual operation_path path() const = 0;

  virtual operation_signature signature() const = 0;
  virtual operation_number number() const = 0;
};

using work_handle = std::shared_ptr<work>;

}  // namespace troupe
