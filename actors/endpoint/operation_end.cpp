#include "actors/endpoint/operation_end.hpp"

#include "actors/rank/rank_machine.hpp"

namespace troupe::actors {

namespace {

void count(operation_counters& counters, const operation_record& record) {
  const auto kind = operation_counters::index(record.signature.kind);
  auto& cell = counters.by_path.of(
      {record.signature.kind, record.algorithm, record.lanes, class_of(record.bytes)});
  if (record.failed != errc::ok) {
    counters.failed[kind].add(1);
    cell.failed.add(1);
    return;
  }
  counters.finished[kind].add(1);
  cell.finished.add(1);
  cell.bytes.add(record.bytes);
  cell.bus_bytes.add(bus_bytes(record.signature.kind, record.bytes, record.ranks));
  cell.seconds.add(record.execution());
}

}  // namespace

void note_end(endpoint_context& context, operation_slot slot, const failure* why) {
  auto& entry = *context.operations.find(slot);
  // The one look at the clock of an operation: a small one begins and ends in one round.
  const auto now = context.home.now();
  step(entry.trace,
       operation_finished{why != nullptr ? why->code() : errc::ok,
                          why != nullptr ? why->what.peer : no_rank},
       now);
  context.recorder.trace.retire(slot.index, entry.trace.record);
  // Promised operations have numbers of their own, which say nothing of the others.
  if (!entry.promise) entry.progress->ended(entry.number, is_collective(entry.number), now);
  count(context.counters, entry.trace.record);
}

}  // namespace troupe::actors
