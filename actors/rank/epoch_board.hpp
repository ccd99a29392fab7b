#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "actors/rank/membership.hpp"
#include "runtime/errc.hpp"
#include "runtime/instant.hpp"
#include "runtime/lane.hpp"
#include "runtime/strong_types.hpp"

namespace troupe::actors {

/// One epoch of a communicator, as this member sits in it. Never changes.
struct seated_epoch {
  troupe::epoch epoch;
  rank self;
  std::shared_ptr<const membership> members;
  /// The name of each rank, ascending; empty in a communicator that is not fault-tolerant: there
  /// a rank is its own name.
  std::vector<std::uint32_t> names;
  operation_number first_operation{1};  ///< the first promised one that is not decided before
};

/// Where the rank actor puts up its newest epoch for the trainer to read.
///
/// Thread: any.
class epoch_board {
 public:
  explicit epoch_board(std::shared_ptr<const seated_epoch> first) : newest_(std::move(first)) {}

  std::shared_ptr<const seated_epoch> newest() const {
    const std::lock_guard lock(guard_);
    return newest_;
  }

  /// Why this member is out of the communicator; ok while it is in.
  errc over() const {
    const std::lock_guard lock(guard_);
    return over_;
  }

  void put_up(std::shared_ptr<const seated_epoch> next) {
    const std::lock_guard lock(guard_);
    newest_ = std::move(next);
    changed_.notify_all();
  }

  void leave(errc why) {
    const std::lock_guard lock(guard_);
    over_ = why;
    changed_.notify_all();
  }

  /// True if an epoch above `after` is up, or this member is out, within `limit`.
  bool wait(troupe::epoch after, duration limit) const {
    std::unique_lock lock(guard_);
    return changed_.wait_for(lock, limit,
                             [&] { return newest_->epoch > after || over_ != errc::ok; });
  }

 private:
  mutable std::mutex guard_;
  mutable std::condition_variable changed_;
  std::shared_ptr<const seated_epoch> newest_;
  errc over_ = errc::ok;
};

}  // namespace troupe::actors
