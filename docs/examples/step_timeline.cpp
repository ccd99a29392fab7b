#include "docs/examples/step_timeline.hpp"

#include <algorithm>
#include <utility>

namespace examples {
namespace {

/// How long at least one of the intervals was under way.
seconds covered(std::vector<interval> intervals) {
  std::sort(intervals.begin(), intervals.end(),
            [](const interval& a, const interval& b) { return a.begin < b.begin; });
  seconds sum{};
  wall_clock::time_point seen{};
  for (const interval& each : intervals) {
    if (each.end <= seen) continue;
    sum += each.end - std::max(each.begin, seen);
    seen = each.end;
  }
  return sum;
}

}  // namespace

std::string_view to_string(activity what) {
  switch (what) {
    case activity::forward: return "forward";
    case activity::backward: return "backward";
    case activity::optimizer: return "optimizer";
    case activity::wait: return "wait";
    case activity::reduce_scatter: return "reduce_scatter";
    case activity::all_reduce: return "all_reduce";
    case activity::all_gather: return "all_gather";
  }
  return "invalid";
}

completion_watch::completion_watch() : thread_([this] { run(); }) {}

completion_watch::~completion_watch() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void completion_watch::add(interval started, troupe::work_handle work) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back({started, std::move(work)});
  }
  changed_.notify_all();
}

std::vector<interval> completion_watch::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return waiting_.empty(); });
  return std::exchange(done_, {});
}

void completion_watch::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (stopping_) return;
    const troupe::work_handle work = waiting_.front().work;
    lock.unlock();
    static_cast<void>(work->wait());  // its error is the trainer's to handle
    const wall_clock::time_point now = wall_clock::now();
    lock.lock();
    done_.push_back(waiting_.front().when);
    done_.back().end = now;
    waiting_.pop_front();
    changed_.notify_all();
  }
}

step_timeline::scope::scope(step_timeline& timeline, activity what, std::size_t bucket)
    : timeline_(&timeline), when_{what, bucket, wall_clock::now(), {}} {}

step_timeline::scope::~scope() {
  when_.end = wall_clock::now();
  timeline_->current_.intervals.push_back(when_);
}

void step_timeline::begin_step() {
  current_.begin = wall_clock::now();
}

void step_timeline::end_step() {
  current_.end = wall_clock::now();
  previous_ = std::exchange(current_, {});
}

void step_timeline::started(activity what, std::size_t bucket, const troupe::work_handle& work) {
  const auto kind =
      static_cast<std::size_t>(what) - static_cast<std::size_t>(activity::reduce_scatter);
  watches_[kind].add({what, bucket, wall_clock::now(), {}}, work);
}

void step_timeline::settle_previous_step() {
  if (!previous_) return;
  settle(*previous_);
  latest_ = std::move(*previous_);
  previous_.reset();
}

void step_timeline::settle(step_record& record) {
  std::vector<interval> operations;
  for (completion_watch& watch : watches_) {
    const std::vector<interval> done = watch.drain();
    operations.insert(operations.end(), done.begin(), done.end());
  }
  totals_.elapsed += record.end - record.begin;
  for (const interval& each : record.intervals) {
    const seconds length = each.end - each.begin;
    if (each.what == activity::optimizer)
      totals_.optimizer += length;
    else if (each.what == activity::wait)
      totals_.exposed += length;
    else
      totals_.compute += length;
  }
  totals_.in_flight += covered(operations);
  record.intervals.insert(record.intervals.end(), operations.begin(), operations.end());
}

}  // namespace examples
