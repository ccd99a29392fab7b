#include "actors/work/work_state.hpp"

namespace troupe::actors {

namespace {

// A waiter spins this long before it sleeps: a sleep and wake-up across cores costs 15-22 us on
// the test machine, so a spin of that length at most doubles what waiting costs.
constexpr duration spin_before_sleep = std::chrono::microseconds(20);

constexpr duration grace = std::chrono::seconds(1);

}  // namespace

work_state::work_state(const operation_request& request, std::uint32_t size,
                       std::shared_ptr<std::atomic<std::uint32_t>> outstanding)
    : request_(request), size_(size), outstanding_(std::move(outstanding)) {}

outcome<void> work_state::wait(duration limit) {
  if (!done_.wait(limit, spin_before_sleep))
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
  out.reserve(size_);
  for (std::uint32_t i = 0; i < size_; ++i)
    out.push_back(rank{i});
  return out;
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
