#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "actors/work/futex_flag.hpp"
#include "actors/work/operation_request.hpp"
#include "runtime/work.hpp"

namespace troupe::actors {

/// The work of one operation, shared by the trainer, who waits, and the worker, who ends it. The
/// last of the two to let go frees it.
class work_state final : public work {
 public:
  /// `drive`: drives the operation's endpoint until a condition holds, at most for a time; may
  /// return earlier.
  using driver = std::function<void(const std::function<bool()>&, duration)>;

  work_state(const operation_request& request, std::uint32_t size,
             std::shared_ptr<std::atomic<std::uint32_t>> outstanding,
             std::shared_ptr<const driver> drive);

  outcome<void> wait(duration limit) override;
  outcome<void> wait() override;
  bool test() const override { return done_.is_up(); }
  failure error() const override;
  std::vector<rank> contributors() const override;
  troupe::epoch epoch() const override;
  operation_path path() const override;
  operation_signature signature() const override { return request_.signature; }
  operation_number number() const override;

  // The worker's side.

  const operation_request& request() const { return request_; }
  /// A work of a group is not launched yet, and cannot be waited for.
  void set_launched(bool launched) { launched_.store(launched); }
  void set_number(operation_number number) { number_.store(number.value); }
  void set_path(const operation_path& path);
  /// Before `finish`: what the result was computed over, and in which epoch.
  void set_decided(troupe::epoch in, std::vector<rank> contributors);

  /// Ends the work; the first call counts. The trainer may free buffers and handle from now on.
  void finish();
  void finish(failure why);

 private:
  bool claim();
  bool wait_done(duration limit);

  const operation_request request_;
  const std::uint32_t size_;
  troupe::epoch decided_in_;
  std::vector<rank> decided_over_;  ///< empty: every rank of the epoch of the call
  // Shared with the communicator's handle: counts what was called and is not done (queue bound).
  std::shared_ptr<std::atomic<std::uint32_t>> outstanding_;
  std::shared_ptr<const driver> drive_;  // one for all works of a communicator
  std::atomic<std::uint64_t> number_{0};
  std::atomic<bool> path_known_{false};
  operation_path path_;
  std::atomic<bool> claimed_{false};
  std::atomic<bool> launched_{true};
  failure failure_;
  futex_flag done_;
};

}  // namespace troupe::actors
