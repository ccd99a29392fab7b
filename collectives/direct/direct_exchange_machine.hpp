#pragma once

#include "collectives/collective_machine.hpp"
#include "collectives/direct/direct_exchange_state.hpp"

namespace troupe::collectives {

/// all_to_all and all_to_all_v in one step: every rank sends each other one its block.
///
/// all_to_all_v makes at least one transfer for every ordered pair of ranks, without bytes where
/// the pair has none: ranks that disagree about a count learn it from that transfer's signature.
///
/// Cost: P-1 blocks sent and received per rank, no forwarding, no scratch; the own block is copied.
///
/// The event functions return false if the event fits no state. `advance` posts what can be
/// posted; `is_complete` says that nothing is left.
bool on_event(const collective_task& task, direct_exchange_state& state, const put_finished& event,
              collective_effects& out);
bool on_event(const collective_task& task, direct_exchange_state& state,
              const accept_finished& event, collective_effects& out);
bool on_event(const collective_task& task, direct_exchange_state& state,
              const bytes_finished& event, collective_effects& out);
void start(const collective_task& task, direct_exchange_state& state, collective_effects& out);
void advance(const collective_task& task, direct_exchange_state& state, collective_effects& out);
bool is_complete(const collective_task& task, const direct_exchange_state& state);

}  // namespace troupe::collectives
