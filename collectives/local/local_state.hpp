#pragma once

#include "collectives/collective_task.hpp"

namespace troupe::collectives {

/// Where an operation stands that needs no other rank.
struct local_state {
  bool done = true;
};

local_state make_local_state(const collective_task& task);

}  // namespace troupe::collectives
