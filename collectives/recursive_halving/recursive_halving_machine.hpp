#pragma once

#include "collectives/collective_machine.hpp"
#include "collectives/recursive_halving/recursive_halving_state.hpp"

namespace troupe::collectives {

/// all_reduce as a reduce_scatter by recursive halving and an all_gather by recursive doubling.
/// Neighbours exchange first, so that operands are combined in the order of recursive doubling:
/// both give the same bits.
///
/// Cost:   2 log2 P rounds (two more for folded ranks) and 2 (P-1)/P of the bytes for P = 2^k.
/// Source: Rabenseifner, ICCS 2004; the nearest neighbour first.
///
/// The event functions return false if the event fits no state. `advance` posts what can be
/// posted; `is_complete` says that nothing is left.
bool on_event(const collective_task& task, recursive_halving_state& state,
              const put_finished& event, collective_effects& out);
bool on_event(const collective_task& task, recursive_halving_state& state,
              const accept_finished& event, collective_effects& out);
bool on_event(const collective_task& task, recursive_halving_state& state,
              const bytes_finished& event, collective_effects& out);
void start(const collective_task& task, recursive_halving_state& state, collective_effects& out);
void advance(const collective_task& task, recursive_halving_state& state, collective_effects& out);
bool is_complete(const collective_task& task, const recursive_halving_state& state);

}  // namespace troupe::collectives
