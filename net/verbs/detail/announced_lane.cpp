#include "net/verbs/detail/announced_lane.hpp"

namespace troupe::net::detail {

void ready_lanes::insert(announced_lane& lane) {
  if (lane.ready_) return;
  lane.ready_ = true;
  lane.ready_before_ = last_;
  lane.ready_after_ = nullptr;
  (last_ == nullptr ? first_ : last_->ready_after_) = &lane;
  last_ = &lane;
}

void ready_lanes::remove(announced_lane& lane) {
  if (!lane.ready_) return;
  lane.ready_ = false;
  auto* const before = lane.ready_before_;
  auto* const after = lane.ready_after_;
  (before == nullptr ? first_ : before->ready_after_) = after;
  (after == nullptr ? last_ : after->ready_before_) = before;
}

announced_lane& ready_lanes::pop() {
  auto& lane = *first_;
  remove(lane);
  return lane;
}

}  // namespace troupe::net::detail
