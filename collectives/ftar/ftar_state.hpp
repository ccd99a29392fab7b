#pragma once

#include <cstdint>

#include "collectives/collective_task.hpp"
#include "collectives/dissemination/dissemination_state.hpp"
#include "collectives/ring/ring_state.hpp"

namespace troupe::collectives {

enum class ftar_phase : std::uint8_t {
  saving,      ///< in place: the input is being copied out of the way
  exchanging,  ///< the ring runs
  confirming,  ///< the whole result is here; whether it is everywhere is being found out
  over,        ///< every rank has the whole result
};

/// Where one rank stands in a fault-tolerant all-reduce.
struct ftar_state {
  collective_task exchange;  ///< the ring's: out of place, its input is never written
  ring_state ring;
  dissemination_state confirmation;
  ftar_phase phase = ftar_phase::exchanging;
};

ftar_state make_ftar_state(const collective_task& task);

}  // namespace troupe::collectives
