#pragma once

#include "collectives/bruck/bruck_state.hpp"
#include "collectives/collective_machine.hpp"

namespace troupe::collectives {

/// all_gather in few rounds: what a rank has doubles with each.
///
/// Cost:   ceil(log2 P) rounds, P-1 blocks sent and received per rank, no scratch. A round whose
///         blocks wrap around the end of the output moves two runs.
/// Source: Bruck, Ho, Kipnis, Upfal, Weathersby, IEEE TPDS 8(11), 1997; without its final rotation.
///
/// The event functions return false if the event fits no state. `advance` posts what can be
/// posted; `is_complete` says that nothing is left.
bool on_event(const collective_task& task, bruck_state& state, const put_finished& event,
              collective_effects& out);
bool on_event(const collective_task& task, bruck_state& state, const accept_finished& event,
              collective_effects& out);
bool on_event(const collective_task& task, bruck_state& state, const bytes_finished& event,
              collective_effects& out);
void start(const collective_task& task, bruck_state& state, collective_effects& out);
void advance(const collective_task& task, bruck_state& state, collective_effects& out);
bool is_complete(const collective_task& task, const bruck_state& state);

}  // namespace troupe::collectives
