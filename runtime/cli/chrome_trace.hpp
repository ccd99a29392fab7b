#pragma once

#include <span>
#include <string>

#include "runtime/rank_dump.hpp"

namespace troupe::cli {

/// Dumps of a job as one timeline in Chrome's trace event format, which Perfetto and
/// chrome://tracing open: a process for each rank, in it a track for each communicator, on it each
/// operation from its start to its end; below it what it waited for before its start. Incidents
/// are marks. Times are wall clock: how far ranks of different hosts agree is up to their clocks.
std::string to_chrome_trace(std::span<const rank_dump> dumps);

}  // namespace troupe::cli
