#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/cli/process_end.hpp"
#include "runtime/scenario/judge_run.hpp"
#include "runtime/scenario/run_record.hpp"
#include "runtime/scenario/scenario.hpp"

namespace troupe::cli {

/// One run of a script and what was found.
struct scenario_run {
  std::uint64_t seed = 1;
  scenario::fault_plan plan;
  scenario::run_record record;
  std::vector<scenario::finding> findings;
  duration wall{};
};

/// How much of a run is told.
enum class report_detail : std::uint8_t {
  line,   ///< one line, and what was found
  story,  ///< also every strike and how each rank ended
};

std::string describe_run(const scenario::script& of, scenario::world_kind where,
                         const scenario_run& run, report_detail detail);

/// "troupe scenario run killed_rank.toml --world sim --seed 7": plays the same again.
std::string reproduction(const scenario::script& of, scenario::world_kind where,
                         std::uint64_t seed);

/// An array with one object for each run.
std::string runs_json(const scenario::script& of, scenario::world_kind where,
                      const std::vector<scenario_run>& runs);

/// The same as JUnit XML: a test case for each run.
std::string runs_junit(const scenario::script& of, scenario::world_kind where,
                       const std::vector<scenario_run>& runs);

exit_code exit_code_of(scenario::judgement worst);

}  // namespace troupe::cli
