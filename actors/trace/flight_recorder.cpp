#include "actors/trace/flight_recorder.hpp"

namespace troupe::actors {

rank_dump flight_recorder::take(const worker_counters& worker, instant now) const {
  rank_dump out;
  out.taken_at = now;
  out.worker.last_round = instant(duration(static_cast<std::int64_t>(worker.last_round_ns.get())));
  out.worker.parked = worker.parked.get() != 0;
  out.worker.messages = worker.messages_total();
  const bool board_read = board.read(out);
  const bool trace_read = trace.read(out.operations);
  out.complete = board_read && trace_read;
  return out;
}

}  // namespace troupe::actors
