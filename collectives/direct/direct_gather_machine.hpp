#pragma once

#include "collectives/collective_machine.hpp"
#include "collectives/direct/direct_gather_state.hpp"

namespace troupe::collectives {

/// all_gather in one step: every rank sends its block to every other one.
///
/// Cost: P-1 blocks sent and received per rank, no forwarding.
///
/// The event functions return false if the event fits no state. `advance` posts what can be
/// posted; `is_complete` says that nothing is left.
bool on_event(const collective_task& task, direct_gather_state& state, const put_finished& event,
              collective_effects& out);
bool on_event(const collective_task& task, direct_gather_state& state, const accept_finished& event,
              collective_effects& out);
bool on_event(const collective_task& task, direct_gather_state& state, const bytes_finished& event,
              collective_effects& out);
void start(const collective_task& task, direct_gather_state& state, collective_effects& out);
void advance(const collective_task& task, direct_gather_state& state, collective_effects& out);
bool is_complete(const collective_task& task, const direct_gather_state& state);

}  // namespace troupe::collectives
