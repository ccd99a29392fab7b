#pragma once

#include <cstdint>
#include <string>

#include "runtime/cli/scenario_report.hpp"
#include "runtime/result.hpp"
#include "runtime/scenario/scenario.hpp"

namespace troupe::cli {

/// Errors: bad_argument with all names.
outcome<scenario::world_kind> parse_world(const std::string& name);

/// Reads and checks a script. Errors: bad_argument, bad_configuration.
outcome<scenario::script> load_script(const std::string& path);

/// Plays a script once and judges what happened. `of` was checked for this world.
/// Errors: those of opening the world.
/// Thread: the process's only one.
outcome<scenario_run> play_once(const scenario::script& of, scenario::world_kind where,
                                std::uint64_t seed);

/// Errors: system_failure with the name of the option.
outcome<void> write_file(const char* option, const std::string& path, const std::string& text);

}  // namespace troupe::cli
