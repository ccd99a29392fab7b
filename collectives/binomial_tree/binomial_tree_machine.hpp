#pragma once

#include "collectives/binomial_tree/binomial_tree_state.hpp"
#include "collectives/collective_machine.hpp"

namespace troupe::collectives {

/// broadcast down a binomial tree or a chain, chunk after chunk: a chunk is sent on as soon as it
/// is here.
///
/// Cost:   binomial tree ceil(log2 P) hops, chain P - 1; a rank sends the buffer once to each of
/// its
///         children, in a chain to one.
///
/// The event functions return false if the event fits no state. `advance` posts what can be
/// posted; `is_complete` says that nothing is left.
bool on_event(const collective_task& task, binomial_tree_state& state, const put_finished& event,
              collective_effects& out);
bool on_event(const collective_task& task, binomial_tree_state& state, const accept_finished& event,
              collective_effects& out);
bool on_event(const collective_task& task, binomial_tree_state& state, const bytes_finished& event,
              collective_effects& out);
void start(const collective_task& task, binomial_tree_state& state, collective_effects& out);
void advance(const collective_task& task, binomial_tree_state& state, collective_effects& out);
bool is_complete(const collective_task& task, const binomial_tree_state& state);

}  // namespace troupe::collectives
