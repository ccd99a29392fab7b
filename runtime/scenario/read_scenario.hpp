#pragma once

#include <string>
#include <string_view>

#include "runtime/result.hpp"
#include "runtime/scenario/scenario.hpp"

namespace troupe::scenario {

/// Most ranks of a scenario. Chosen: as many as the simulated network has numbers for.
inline constexpr std::uint32_t rank_count_max = 1u << 20;
/// Most steps. Chosen: records are kept of each.
inline constexpr std::uint32_t step_count_max = 1'000'000;
/// Most faults and most expectations. Chosen: ten times more than a person reads.
inline constexpr std::size_t statement_count_max = 1000;

/// Reads the text of a script: words, types, ranges. What contradicts what is for
/// `check_scenario` to say. The language is described in docs/scenarios.md.
/// Errors: bad_configuration with file, line and, for a name that is unknown, the nearest one.
outcome<script> read_scenario(std::string_view text, std::string_view file_name);

/// The same of a file. Errors: also bad_argument if it cannot be read.
outcome<script> read_scenario_file(const std::string& path);

}  // namespace troupe::scenario
