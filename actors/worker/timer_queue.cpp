#include "actors/worker/timer_queue.hpp"

#include <algorithm>

namespace troupe::actors {

namespace {

// Equal times fire in order of creation, so that a simulation repeats exactly.
constexpr auto later = [](const auto& a, const auto& b) {
  return a.at != b.at ? a.at > b.at : a.id > b.id;
};

}  // namespace

timer_queue::timer_id timer_queue::create(timer_owner& owner) {
  timer_id id = 0;
  if (free_.empty()) {
    id = static_cast<timer_id>(timers_.size());
    timers_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  timers_[id].owner = &owner;
  return id;
}

void timer_queue::destroy(timer_id id) {
  auto& t = timers_[id];
  t = timer{.life = t.life + 1};
  free_.push_back(id);
}

void timer_queue::arm(timer_id id, instant deadline, std::uint64_t generation) {
  auto& t = timers_[id];
  t.deadline = deadline;
  t.generation = generation;
  if (deadline >= t.queued) return;
  t.queued = deadline;
  push({deadline, id, t.life});
}

bool timer_queue::poll(instant now) {
  bool did = false;
  while (!heap_.empty() && heap_.front().at <= now) {
    const auto due = pop();
    auto& t = timers_[due.id];
    if (t.life != due.life || t.queued != due.at) continue;
    t.queued = never;
    if (t.deadline > now) {
      arm(due.id, t.deadline, t.generation);
      continue;
    }
    t.deadline = never;
    did = true;
    t.owner->on_timer(t.generation);
  }
  return did;
}

instant timer_queue::next_deadline() const {
  return heap_.empty() ? never : heap_.front().at;
}

void timer_queue::push(entry e) {
  heap_.push_back(e);
  std::push_heap(heap_.begin(), heap_.end(), later);
}

timer_queue::entry timer_queue::pop() {
  std::pop_heap(heap_.begin(), heap_.end(), later);
  const auto e = heap_.back();
  heap_.pop_back();
  return e;
}

}  // namespace troupe::actors
