#pragma once

#include <optional>

#include "actors/fault_analyzer/case_file.hpp"
#include "runtime/diagnosis.hpp"

namespace troupe::actors {

// The questions the analyser asks, in this order: what was said plainly goes before what follows
// from a graph, and a fault before slowness. Each answers nothing if it finds nothing.

/// Do ranks still join?
std::optional<diagnosis> find_incomplete_join(const case_file& file);

/// Did ranks call different operations under one number?
std::optional<diagnosis> find_mismatch(const case_file& file);

/// Which process ended first, or fell silent, or can no longer be reached although it lives?
std::optional<diagnosis> find_lost_rank(const case_file& file);

/// Which collective is blocked, and by whom?
std::optional<diagnosis> find_blocked(const case_file& file);

/// Which send, receive, put or get is blocked? Asked when no collective is.
std::optional<diagnosis> find_blocked_pair(const case_file& file);

/// Does nobody call anything any more?
std::optional<diagnosis> find_idle_job(const case_file& file);

/// For whom do all others wait, operation after operation?
std::optional<diagnosis> find_slow_rank(const case_file& file);

/// The table below every verdict: each rank that spoke, and what it is in.
std::vector<diagnosis_row> table_of(const case_file& file);

}  // namespace troupe::actors
