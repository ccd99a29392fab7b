#pragma once

#include <cstdint>

#include "actors/endpoint/endpoint_context.hpp"
#include "runtime/scenario/scenario.hpp"

namespace troupe::actors {

/// Whether an operation of this endpoint is in the phase now. Only the ring of an all_reduce has
/// phases, and only while it has a transfer open.
/// Cost: O(open transfers), and a plan.
bool is_in_phase(endpoint_context& context, scenario::phase_kind phase);

}  // namespace troupe::actors
