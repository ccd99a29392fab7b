#pragma once

#include "collectives/collective_machine.hpp"
#include "collectives/recursive_doubling/recursive_doubling_state.hpp"

namespace troupe::collectives {

/// all_reduce by recursive doubling. Operands are combined in rank order, so that both partners of
/// an exchange compute the same bits.
///
/// Cost:   ceil(log2 P) rounds (two more for folded ranks), the whole buffer in each.
/// Source: Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005.
///
/// The event functions return false if the event fits no state. `advance` posts what can be
/// posted; `is_complete` says that nothing is left.
bool on_event(const collective_task& task, recursive_doubling_state& state,
              const put_finished& event, collective_effects& out);
bool on_event(const collective_task& task, recursive_doubling_state& state,
              const accept_finished& event, collective_effects& out);
bool on_event(const collective_task& task, recursive_doubling_state& state,
              const bytes_finished& event, collective_effects& out);
void start(const collective_task& task, recursive_doubling_state& state, collective_effects& out);
void advance(const collective_task& task, recursive_doubling_state& state, collective_effects& out);
bool is_complete(const collective_task& task, const recursive_doubling_state& state);

}  // namespace troupe::collectives
