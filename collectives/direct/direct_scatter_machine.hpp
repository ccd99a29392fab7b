#pragma once

#include "collectives/collective_machine.hpp"
#include "collectives/direct/direct_scatter_state.hpp"

namespace troupe::collectives {

/// reduce_scatter in one step: every rank gets its block from every other one and combines them in
/// the order in which the ring does, so that both algorithms give the same bits.
///
/// Cost: P-1 blocks sent and received per rank, P-1 combined.
///
/// The event functions return false if the event fits no state. `advance` posts what can be
/// posted; `is_complete` says that nothing is left.
bool on_event(const collective_task& task, direct_scatter_state& state, const put_finished& event,
              collective_effects& out);
bool on_event(const collective_task& task, direct_scatter_state& state,
              const accept_finished& event, collective_effects& out);
bool on_event(const collective_task& task, direct_scatter_state& state, const bytes_finished& event,
              collective_effects& out);
void start(const collective_task& task, direct_scatter_state& state, collective_effects& out);
void advance(const collective_task& task, direct_scatter_state& state, collective_effects& out);
bool is_complete(const collective_task& task, const direct_scatter_state& state);

}  // namespace troupe::collectives
