#pragma once

#include "collectives/collective_machine.hpp"
#include "collectives/ftar/ftar_state.hpp"

namespace troupe::collectives {

/// Fault-tolerant all_reduce: a ring that never writes to its input, then one round of
/// confirmation. Whoever sees the end of it knows that every rank holds the whole result; whoever
/// does not can still do the operation again, with other ranks, from its input.
///
/// Cost:   the ring's, ceil(log2 P) messages without bytes, and in place one copy of the buffer.
/// Memory: `pipeline_chunk_count` chunks, and in place `saved` with as many bytes as the buffer.
///         Once `saving` is over the input of a failed operation is there, to be put back, or to be
///         the `send` of the same operation in another epoch.
/// In flight between two ranks: at most `pipeline_chunk_count` chunks of `chunk_bytes`.
/// Source: the ring of Patarasuk & Yuan, JPDC 69(2), 2009; docs/protocols/ftar.md.
///
/// The event functions return false if the event fits no state. `advance` posts what can be
/// posted; `is_complete` says that nothing is left.
bool on_event(const collective_task& task, ftar_state& state, const put_finished& event,
              collective_effects& out);
bool on_event(const collective_task& task, ftar_state& state, const accept_finished& event,
              collective_effects& out);
bool on_event(const collective_task& task, ftar_state& state, const bytes_finished& event,
              collective_effects& out);
void start(const collective_task& task, ftar_state& state, collective_effects& out);
void advance(const collective_task& task, ftar_state& state, collective_effects& out);
bool is_complete(const collective_task& task, const ftar_state& state);

}  // namespace troupe::collectives
