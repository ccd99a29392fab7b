#pragma once

#include "collectives/collective_machine.hpp"
#include "collectives/ring/ring_state.hpp"

namespace troupe::collectives {

/// Pipelined ring: all_reduce, reduce_scatter, all_gather.
///
/// Cost:   all_reduce 2(P-1) time steps and 2(P-1)/P of the bytes sent and received per rank, the
///         others half of that; see docs/algorithms.md.
/// Source: Patarasuk & Yuan, JPDC 69(2), 2009.
///
/// The event functions return false if the event fits no state. `advance` posts what can be
/// posted; `is_complete` says that nothing is left.
bool on_event(const collective_task& task, ring_state& state, const put_finished& event,
              collective_effects& out);
bool on_event(const collective_task& task, ring_state& state, const accept_finished& event,
              collective_effects& out);
bool on_event(const collective_task& task, ring_state& state, const bytes_finished& event,
              collective_effects& out);
void start(const collective_task& task, ring_state& state, collective_effects& out);
void advance(const collective_task& task, ring_state& state, collective_effects& out);
bool is_complete(const collective_task& task, const ring_state& state);

}  // namespace troupe::collectives
