#pragma once

#include <cstdint>
#include <deque>
#include <functional>

#include "actors/worker/poller.hpp"
#include "collectives/reduction/combine_bytes.hpp"
#include "runtime/stream_copy.hpp"

namespace troupe::actors {

/// Who is told that a job is done.
class byte_job_owner {
 public:
  virtual ~byte_job_owner() = default;
  virtual void on_bytes_moved(std::uint32_t token) = 0;
};

/// A copy or a reduction of host memory. `left` null: copy `right` to `target`.
struct byte_job {
  collectives::combine_rule rule;
  std::byte* target = nullptr;
  const std::byte* left = nullptr;
  const std::byte* right = nullptr;
  std::uint64_t count = 0;                ///< elements
  store_path path = store_path::by_size;  ///< by the size of the whole job, not of a slice
  byte_job_owner* owner = nullptr;
  std::uint32_t token = 0;
};

/// Moves and adds host bytes between messages, in slices, so that a large operation never delays a
/// small one, a heartbeat or an abort on the same worker. Jobs of different owners take turns.
///
/// Bound:  jobs are bounded by their owners: a collective has at most its pipeline in here.
/// Thread: the worker only.
class byte_mover final : public poller {
 public:
  /// `slice`: longest stretch of one poll. `clock`: the worker's.
  byte_mover(duration slice, std::function<instant()> clock)
      : slice_(slice), clock_(std::move(clock)) {}

  /// Jobs up to this many bytes are done at once by the caller: queueing them would cost more.
  static constexpr std::uint64_t inline_bytes_max = 32 * 1024;

  static void run(const byte_job& job);

  void add(const byte_job& job);

  /// Forgets the owner's jobs; their targets are not written any more.
  void cancel(const byte_job_owner& owner);

  bool poll(instant now) override;
  instant next_deadline() const override { return jobs_.empty() ? never : instant::min(); }

  std::size_t queued() const { return jobs_.size(); }

 private:
  duration slice_;
  std::function<instant()> clock_;
  std::deque<byte_job> jobs_;
};

}  // namespace troupe::actors
