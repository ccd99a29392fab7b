#pragma once

#include <cstdint>

#include "collectives/collective_task.hpp"
#include "collectives/transfer_window.hpp"

namespace troupe::collectives {

/// Where one rank stands in a barrier. Both windows are indexed by round.
struct dissemination_state {
  std::uint32_t round_count = 0;
  transfer_window puts;
  transfer_window accepts;
};

dissemination_state make_dissemination_state(const collective_task& task);

}  // namespace troupe::collectives
