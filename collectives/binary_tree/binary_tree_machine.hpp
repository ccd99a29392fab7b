#pragma once

#include "collectives/binary_tree/binary_tree_state.hpp"
#include "collectives/collective_machine.hpp"

namespace troupe::collectives {

/// all_gather by a gather up a binary tree to rank 0 and a broadcast of everything down it.
///
/// Cost:   2 ceil(log2(P + 1)) - 2 hops at most; a rank sends at most three runs of bytes (its
///         subtree up, the whole output to two children) however many ranks there are, where the
///         other algorithms send log2 P or P - 1. For few bytes among many ranks.
///
/// The event functions return false if the event fits no state. `advance` posts what can be
/// posted; `is_complete` says that nothing is left.
bool on_event(const collective_task& task, binary_tree_state& state, const put_finished& event,
              collective_effects& out);
bool on_event(const collective_task& task, binary_tree_state& state, const accept_finished& event,
              collective_effects& out);
bool on_event(const collective_task& task, binary_tree_state& state, const bytes_finished& event,
              collective_effects& out);
void start(const collective_task& task, binary_tree_state& state, collective_effects& out);
void advance(const collective_task& task, binary_tree_state& state, collective_effects& out);
bool is_complete(const collective_task& task, const binary_tree_state& state);

}  // namespace troupe::collectives
