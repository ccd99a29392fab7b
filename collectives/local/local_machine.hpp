#pragma once

#include "collectives/collective_machine.hpp"
#include "collectives/local/local_state.hpp"

namespace troupe::collectives {

/// What needs no other rank: nothing at all, or one copy from the input to the output.
///
/// The event functions return false if the event fits no state. `advance` posts what can be
/// posted; `is_complete` says that nothing is left.
bool on_event(const collective_task& task, local_state& state, const put_finished& event,
              collective_effects& out);
bool on_event(const collective_task& task, local_state& state, const accept_finished& event,
              collective_effects& out);
bool on_event(const collective_task& task, local_state& state, const bytes_finished& event,
              collective_effects& out);
void start(const collective_task& task, local_state& state, collective_effects& out);
void advance(const collective_task& task, local_state& state, collective_effects& out);
bool is_complete(const collective_task& task, const local_state& state);

}  // namespace troupe::collectives
