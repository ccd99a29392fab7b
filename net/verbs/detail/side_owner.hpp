#pragma once

#include "runtime/lane.hpp"

namespace troupe::net::detail {

/// Who owns a TCP connection that stands beside a queue pair; the tag of its lane points here.
class side_owner {
 public:
  virtual ~side_owner() = default;

  /// The connection wants to be polled.
  virtual void on_side_ready() = 0;

  static void own(lane& side, side_owner* owner) {
    side.set_tag(reinterpret_cast<std::uintptr_t>(owner));
  }
  static side_owner* of(const lane& side) { return reinterpret_cast<side_owner*>(side.tag()); }
};

}  // namespace troupe::net::detail
