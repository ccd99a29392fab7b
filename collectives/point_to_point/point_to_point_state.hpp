#pragma once

#include "collectives/collective_task.hpp"

namespace troupe::collectives {

/// Where one side of a send and receive stands.
struct point_to_point_state {
  bool posted = false;
  bool finished = false;
};

}  // namespace troupe::collectives
