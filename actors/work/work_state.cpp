#include "actors/work/work_state.hpp"

#include <algorithm>
#include <chrono>

namespace troupe::actors {

namespace {

// A waiter that cannot drive asks again after this long.
constexpr duration look_again = std::chrono::milliseconds(1);

constexpr duration grace = std::chrono::seconds(1);

}  // namespace

work_state::work_state(const operation_request& request, std::uint32_t size,
                       std::shared_ptr<std::atomic<std::uint32_t>> outstanding,
                       std::shared_ptr<const driver> drive)
    : request_(request),
      size_(size),
      decided_in_(request.epoch),
      outstanding_(std::move(outstanding)),
      drive_(std::move(drive)) {}

bool work_state::wait_done(duration limit) {
  const auto start = std::chrono::steady_clock::now();
  for (auto left = limit; left > duration::zero();
       left = limit - (std::chrono::steady_clock::now() - start)) {
    // Also for an operation that is done: the endpoint learns from waits when trainers wait.
    (*drive_)([this] { return done_.is_up(); }, left);
    if (done_.is_up()) return true;
    // Another waiter drives: sleep, but look whether it went away.
    if (done_.wait(std::min(left, look_again), duration::zero())) return true;
  }
  return done_.is_up();
}

outcome<void> work_state::wait(duration limit) {
  if (!launched_.load() && !test())
    return fail(errc::bad_argument, to_string(request_.signature) +
                                        " belongs to a group that has not ended; call group::end "
                                        "before waiting for it");
  if (!wait_done(limit))
    return fail(errc::timed_out, to_string(request_.signature) + " is not done after " +
                                     std::to_string(limit.count() / 1'000'000) +
                                     " ms; it goes on, wait again");
  if (failure_.code() != errc::ok) return fail(failure_);
  return {};
}

outcome<void> work_state::wait() {
  return wait(request_.timeout + grace);
}

failure work_state::error() const {
  return test() ? failure_ : failure{};
}

std::vector<rank> work_state::contributors() const {
  std::vector<rank> out;
  if (!test() || failure_.code() != errc::ok) return out;
  if (!decided_over_.empty()) return decided_over_;
  out.reserve(size_);
  for (std::uint32_t i = 0; i < size_; ++i)
    out.push_back(rank{i});
  return out;
}

troupe::epoch work_state::epoch() const {
  return test() ? decided_in_ : request_.epoch;
}

void work_state::set_decided(troupe::epoch in, std::vector<rank> contributors) {
  decided_in_ = in;
  decided_over_ = std::move(contributors);
}

operation_path work_state::path() const {
  return path_known_.load(std::memory_order_acquire) ? path_ : operation_path{};
}

operation_number work_state::number() const {
  return {number_.load()};
}

void work_state::set_path(const operation_path& path) {
  path_ = path;
  path_known_.store(true, std::memory_order_release);
}

bool work_state::claim() {
  return !claimed_.exchange(true);
}

void work_state::finish() {
  if (!claim()) return;
  outstanding_->fetch_sub(1);
  done_.raise();
}

void work_state::finish(failure why) {
  if (!claim()) return;
  failure_ = std::move(why);
  outstanding_->fetch_sub(1);
  done_.raise();
}

}  // namespace troupe::actors
