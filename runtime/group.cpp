#include "runtime/group.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "runtime/assert.hpp"

namespace troupe {

group::~group() {
  drop_all({errc::aborted, "the group was destroyed before its end; call group::end"});
}

void group::add(std::unique_ptr<grouped_operation> operation) {
  TROUPE_ASSERT(is_open());
  if (std::exchange(is_new_, false)) works_.clear();
  works_.push_back(operation->handle());
  waiting_.push_back(std::move(operation));
}

void group::note(const failure& why) {
  if (first_failure_.code() == errc::ok) first_failure_ = why;
}

void group::drop_all(const failure& why) {
  for (const auto& operation : waiting_)
    operation->drop(why);
  waiting_.clear();
}

outcome<void> group::end() {
  if (depth_ == 0)
    return fail(errc::bad_argument, "group: end without a start; every end closes one start");
  if (--depth_ != 0) return {};
  if (std::exchange(is_new_, true)) works_.clear();
  const failure failed = std::exchange(first_failure_, {});
  if (failed.code() != errc::ok) {
    drop_all({errc::aborted, "not launched: another call of its group failed: " + failed.message});
    return fail(failed);
  }
  for (const auto& operation : waiting_)
    operation->launch();
  // Once for all: the last one's endpoint is, but for tests, everybody's.
  if (!waiting_.empty()) waiting_.back()->start_now();
  waiting_.clear();
  return {};
}

outcome<void> group::wait(duration limit) {
  if (is_open())
    return fail(errc::bad_argument, "group: wait before the end; nothing is launched yet");
  const auto until = std::chrono::steady_clock::now() + limit;
  outcome<void> first;
  for (const work_handle& one : works_) {
    const auto left = until - std::chrono::steady_clock::now();
    auto done = one->wait(std::max<duration>(left, duration::zero()));
    if (!done && first) first = std::move(done);
  }
  return first;
}

}  // namespace troupe
