#pragma once

#include "collectives/collective_machine.hpp"
#include "collectives/reduce_tree/reduce_tree_state.hpp"

namespace troupe::collectives {

/// reduce along a binomial tree or a chain, chunk after chunk: a chunk goes on as soon as all of it
/// is combined here.
///
/// Cost:   binomial tree ceil(log2 P) hops, chain P - 1; every rank but the root sends the buffer
///         once and combines it once for each child.
///
/// The event functions return false if the event fits no state. `advance` posts what can be
/// posted; `is_complete` says that nothing is left.
bool on_event(const collective_task& task, reduce_tree_state& state, const put_finished& event,
              collective_effects& out);
bool on_event(const collective_task& task, reduce_tree_state& state, const accept_finished& event,
              collective_effects& out);
bool on_event(const collective_task& task, reduce_tree_state& state, const bytes_finished& event,
              collective_effects& out);
void start(const collective_task& task, reduce_tree_state& state, collective_effects& out);
void advance(const collective_task& task, reduce_tree_state& state, collective_effects& out);
bool is_complete(const collective_task& task, const reduce_tree_state& state);

}  // namespace troupe::collectives
