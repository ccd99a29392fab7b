#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "actors/trace/collective_trace.hpp"
#include "actors/trace/flight_board.hpp"
#include "actors/worker/worker_counters.hpp"
#include "runtime/instant.hpp"
#include "runtime/memory_ledger.hpp"
#include "runtime/rank_dump.hpp"

namespace troupe::actors {

/// What an endpoint remembers of itself for the day it is asked: the collective trace and the
/// board. Belongs to the endpoint's context, so that simulated endpoints have one as well.
class flight_recorder {
 public:
  struct sizes {
    std::size_t live_count = 0;
    std::size_t past_count = 0;
  };

  flight_recorder(sizes how_many, memory_ledger& ledger)
      : trace(how_many.live_count, how_many.past_count, ledger.of(memory_purpose::traces)) {}

  collective_trace trace;
  flight_board board;

  /// Called on the worker when something failed that a dump should be written for: must only wake
  /// somebody. Set before the endpoint joins.
  std::function<void()> on_failure;

  void failed() {
    if (on_failure) on_failure();
  }

  /// The dump of this moment but for who and where the rank is. Never waits for the worker.
  /// Thread: any.
  rank_dump take(const worker_counters& worker, instant now) const;
};

}  // namespace troupe::actors
