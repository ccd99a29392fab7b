#pragma once

#include "collectives/collective_machine.hpp"
#include "collectives/reduce_broadcast/reduce_broadcast_state.hpp"

namespace troupe::collectives {

/// all_reduce up one binomial tree and down another.
///
/// Cost:   2 ceil(log2 P) hops, twice those of recursive doubling, with 2 (P - 1) messages of all
///         ranks together instead of P log2 P: for few bytes where ranks share processors and the
///         time goes into handling messages.
/// Order:  that of recursive doubling, so the same bits.
///
/// The event functions return false if the event fits no state. `advance` posts what can be
/// posted; `is_complete` says that nothing is left.
bool on_event(const collective_task& task, reduce_broadcast_state& state, const put_finished& event,
              collective_effects& out);
bool on_event(const collective_task& task, reduce_broadcast_state& state,
              const accept_finished& event, collective_effects& out);
bool on_event(const collective_task& task, reduce_broadcast_state& state,
              const bytes_finished& event, collective_effects& out);
void start(const collective_task& task, reduce_broadcast_state& state, collective_effects& out);
void advance(const collective_task& task, reduce_broadcast_state& state, collective_effects& out);
bool is_complete(const collective_task& task, const reduce_broadcast_state& state);

}  // namespace troupe::collectives
