#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/error.hpp"
#include "runtime/instant.hpp"
#include "runtime/scenario/scenario.hpp"

namespace troupe::scenario {

/// What a rank held when it was looked at.
struct footprint {
  std::uint64_t descriptors = 0;
  std::uint64_t threads = 0;
  std::uint64_t memory = 0;  ///< bytes in its ledger
};

/// What became of one rank.
struct rank_record {
  bool joined = false;
  bool killed = false;  ///< by a fault, maybe after it had ended
  std::uint32_t steps_done = 0;
  std::uint64_t wrong_elements = 0;  ///< in the results of operations that ended ok
  std::optional<rank_outcome> outcome;
  failure why;                  ///< of an outcome that is an error
  std::uint32_t operation = 0;  ///< the one that failed, counted from 1 over all steps
  std::string crash;            ///< how its process ended though nothing was to end it
  instant ended = never;
  std::vector<duration> step_times;
  std::vector<instant> step_begins;
  std::optional<footprint> before;          ///< before joining; memory: after the first step
  std::optional<footprint> after;           ///< after leaving; memory: after the last step
  std::optional<std::uint32_t> epoch;       ///< the newest that it knew in the end
  std::vector<std::uint32_t> members;       ///< of that epoch, by name
  std::vector<std::uint32_t> contributors;  ///< to its last result, by name
};

/// When a strike struck and when it was over.
struct strike_record {
  std::optional<instant> struck;
  std::optional<instant> lifted;
  std::string refused;  ///< why the world could not do it
};

/// All that a judge has to know of a run.
struct run_record {
  std::vector<rank_record> ranks;
  std::vector<strike_record> strikes;  ///< one for each of the plan
  std::optional<instant> work_began;   ///< every rank had joined, or could not
  instant ended{};
  bool out_of_time = false;                             ///< the limit passed
  std::vector<std::pair<std::string, double>> metrics;  ///< by name, summed over labels and ranks
  std::uint64_t trace_hash = 0;                         ///< sim
  std::string verdict;                  ///< what dumps of the ranks say in the end; sim
  std::vector<std::uint32_t> culprits;  ///< of the verdict
};

}  // namespace troupe::scenario
