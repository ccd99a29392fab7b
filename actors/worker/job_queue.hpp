#pragma once

#include <cstddef>
#include <vector>

namespace caf {
class resumable;
}

namespace troupe::actors {

/// Actors of one worker that have messages, first in first out. Takes memory only to hold more than
/// ever before: a `std::deque` would take and give back a block every 64 actors.
///
/// Thread: whoever drives the worker.
class job_queue {
 public:
  bool empty() const { return count_ == 0; }

  void push(caf::resumable* job) {
    if (count_ == ring_.size()) grow();
    ring_[(first_ + count_++) % ring_.size()] = job;
  }

  /// Not of an empty queue.
  caf::resumable* pop() {
    auto* const job = ring_[first_];
    first_ = (first_ + 1) % ring_.size();
    --count_;
    return job;
  }

 private:
  void grow() {
    std::vector<caf::resumable*> larger(ring_.empty() ? 64 : 2 * ring_.size());
    for (std::size_t i = 0; i < count_; ++i)
      larger[i] = ring_[(first_ + i) % ring_.size()];
    ring_.swap(larger);
    first_ = 0;
  }

  std::vector<caf::resumable*> ring_;  ///< a power of two
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

}  // namespace troupe::actors
