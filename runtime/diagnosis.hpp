#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/instant.hpp"
#include "runtime/operation.hpp"
#include "runtime/rank_dump.hpp"
#include "runtime/strong_types.hpp"

namespace troupe {

/// What is wrong with a job. Numbers are the exit codes of `troupe analyze`, less 10: stable.
enum class verdict_kind : std::uint8_t {
  all_good = 0,
  mismatched_call = 1,        ///< ranks called different operations under one number
  process_dead = 2,           ///< a process ended
  lane_dead = 3,              ///< two living processes cannot reach each other
  rank_silent = 4,            ///< a process gives no sign of life: stopped, or its host is gone
  never_joined = 5,           ///< living ranks did not call an operation that others wait in
  stuck_in_operation = 6,     ///< all joined, and some rank does not get on with it
  communicator_deadlock = 7,  ///< ranks wait for each other in operations of several communicators
  stuck_outside = 8,          ///< nothing runs and nobody calls anything
  slow_rank = 9,              ///< everything gets on, and the others wait for one rank
  join_incomplete = 10,       ///< the job does not come together
};

std::string_view to_string(verdict_kind kind);

/// From when on something is worth a verdict. Chosen: below these a healthy job would be accused.
struct diagnosis_options {
  duration stuck_after = std::chrono::seconds(2);     ///< age of an operation that should be done
  duration outside_after = std::chrono::seconds(60);  ///< time without any call
  std::uint32_t slow_operation_count = 8;             ///< operations a slow rank is judged by
  /// How much longer than the slow rank every other waits in an operation, on the average: at least
  /// this, and at least this part of the time that an operation takes.
  duration slow_wait = std::chrono::microseconds(500);
  double slow_share = 0.25;
};

/// One line of the table below a verdict.
struct diagnosis_row {
  rank who;               ///< world rank
  std::string state;      ///< "waits", "not joined", "no dump", "idle", ...
  std::string operation;  ///< what it is in, or was in last
  std::string waits_for;  ///< ranks, or what else
};

/// What `diagnose` found.
struct diagnosis {
  verdict_kind verdict = verdict_kind::all_good;
  std::vector<rank> culprits;  ///< world ranks, in order; empty where it is nobody's
  communicator_id communicator{};
  operation_number operation{};  ///< 0: of none
  std::string sentence;
  std::vector<std::string> evidence;
  std::vector<diagnosis_row> table;
};

/// Merges the dumps of a job's ranks and says who or what is to blame: a wait-for graph over ranks
/// and operations, whose root is the culprit. Ranks without a dump count as giving no sign of life
/// only where others wait for them. Of several dumps of one rank the newest counts. In a job that
/// gets on it says nothing.
///
/// The dumps may be of moments some seconds apart. Clocks of different hosts are never compared,
/// except that the first of several deaths is sought by wall clock.
/// Thread: any; pure.
diagnosis diagnose(std::span<const rank_dump> dumps, const diagnosis_options& options = {});

}  // namespace troupe
