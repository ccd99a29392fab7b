#pragma once

#include "collectives/collective_machine.hpp"
#include "collectives/dissemination/dissemination_state.hpp"

namespace troupe::collectives {

/// barrier: in round k every rank tells the one 2^k places behind that it, and all it has heard
/// of, are here.
///
/// Cost:   ceil(log2 P) rounds of one message without bytes.
/// Source: Hensgen, Finkel, Manber, IJPP 17(1), 1988.
///
/// The event functions return false if the event fits no state. `advance` posts what can be
/// posted; `is_complete` says that nothing is left.
bool on_event(const collective_task& task, dissemination_state& state, const put_finished& event,
              collective_effects& out);
bool on_event(const collective_task& task, dissemination_state& state, const accept_finished& event,
              collective_effects& out);
bool on_event(const collective_task& task, dissemination_state& state, const bytes_finished& event,
              collective_effects& out);
void start(const collective_task& task, dissemination_state& state, collective_effects& out);
void advance(const collective_task& task, dissemination_state& state, collective_effects& out);
bool is_complete(const collective_task& task, const dissemination_state& state);

}  // namespace troupe::collectives
