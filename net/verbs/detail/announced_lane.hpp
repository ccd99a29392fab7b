#pragma once

#include "runtime/lane.hpp"

namespace troupe::net::detail {

/// A lane that can stand in the list of those that have something to say.
class announced_lane : public lane {
 private:
  friend class ready_lanes;

  bool ready_ = false;
  announced_lane* ready_before_ = nullptr;
  announced_lane* ready_after_ = nullptr;
};

/// Lanes that have something to say, in the order in which they got it.
class ready_lanes {
 public:
  bool empty() const { return first_ == nullptr; }
  void insert(announced_lane& lane);
  void remove(announced_lane& lane);
  announced_lane& pop();

 private:
  announced_lane* first_ = nullptr;
  announced_lane* last_ = nullptr;
};

}  // namespace troupe::net::detail
