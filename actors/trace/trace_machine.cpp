#include "actors/trace/trace_machine.hpp"

#include <algorithm>

namespace troupe::actors {

namespace {

void settle(operation_trace& trace, instant now) {
  const auto spent = now - trace.waits_since;
  auto& record = trace.record;
  switch (trace.waits) {
    case wait_reason::nothing: break;
    case wait_reason::peers: record.waited_for_peers += spent; break;
    case wait_reason::sending: record.waited_for_sending += spent; break;
    case wait_reason::resources: record.waited_for_resources += spent; break;
  }
  trace.waits_since = now;
}

void wait_for(operation_trace& trace, wait_reason reason, instant now) {
  settle(trace, now);
  trace.waits = reason;
}

}  // namespace

void step(operation_trace& trace, const operation_queued& event, instant now) {
  trace.record.phase = operation_phase::pending;
  trace.record.queued = now;
  trace.record.deadline = event.deadline;
  trace.waits = wait_reason::resources;
  trace.waits_since = now;
}

void step(operation_trace& trace, const operation_began& event, instant now) {
  auto& record = trace.record;
  record.phase = operation_phase::current;
  record.started = now;
  record.algorithm = event.path.algorithm;
  record.lanes = event.path.lanes;
  record.reason = event.path.reason;
  record.bytes = event.path.bytes;
  record.ranks = event.path.ranks;
  record.threshold_bytes = event.path.threshold_bytes;
  wait_for(trace, wait_reason::nothing, now);
}

void step(operation_trace& trace, const transfer_finished&, instant now) {
  auto& record = trace.record;
  if (record.first_byte == instant{}) record.first_byte = now;
  record.last_byte = now;
}

void step(operation_trace& trace, const operation_stepped& event, instant now) {
  const auto& record = trace.record;
  if (record.phase != operation_phase::current) return;
  auto reason = wait_reason::nothing;
  if (event.byte_jobs == 0 && record.open_accepts != 0) reason = wait_reason::peers;
  if (event.byte_jobs == 0 && record.open_accepts == 0 && record.open_puts != 0)
    reason = wait_reason::sending;
  if (reason != trace.waits) wait_for(trace, reason, now);
}

void step(operation_trace& trace, const waits_looked_at& event, instant now) {
  settle(trace, now);
  auto& record = trace.record;
  record.looked = now;
  record.waits_for_count = 0;
  for (const auto peer : event.peers) {
    const auto named = record.named_waits();
    if (std::find(named.begin(), named.end(), peer) != named.end()) continue;
    // A rank past the named ones may be counted twice: the number says "more", not how many.
    if (record.waits_for_count < named_wait_count) record.waits_for[record.waits_for_count] = peer;
    ++record.waits_for_count;
  }
}

void step(operation_trace& trace, const operation_finished& event, instant now) {
  wait_for(trace, wait_reason::nothing, now);
  auto& record = trace.record;
  record.phase = operation_phase::past;
  record.ended = now;
  record.failed = event.failed;
  record.failed_peer = event.peer;
  if (event.failed != errc::ok) return;
  record.contributors = record.ranks;
  record.open_accepts = 0;
  record.open_puts = 0;
  record.waits_for_count = 0;
}

}  // namespace troupe::actors
