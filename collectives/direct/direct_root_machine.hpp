#pragma once

#include "collectives/collective_machine.hpp"
#include "collectives/direct/direct_root_state.hpp"

namespace troupe::collectives {

/// gather and scatter in one step: the root and every other rank move that rank's block.
///
/// Cost: P-1 blocks received (gather) or sent (scatter) by the root, one by every other rank.
///
/// The event functions return false if the event fits no state. `advance` posts what can be
/// posted; `is_complete` says that nothing is left.
bool on_event(const collective_task& task, direct_root_state& state, const put_finished& event,
              collective_effects& out);
bool on_event(const collective_task& task, direct_root_state& state, const accept_finished& event,
              collective_effects& out);
bool on_event(const collective_task& task, direct_root_state& state, const bytes_finished& event,
              collective_effects& out);
void start(const collective_task& task, direct_root_state& state, collective_effects& out);
void advance(const collective_task& task, direct_root_state& state, collective_effects& out);
bool is_complete(const collective_task& task, const direct_root_state& state);

}  // namespace troupe::collectives
