#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <functional>
#include <map>
#include <string>

#include "runtime/cli/command_line.hpp"
#include "runtime/cli/units.hpp"
#include "runtime/result.hpp"

namespace troupe::cli {

/// What the chosen sub-command does; returns the exit code.
using action = std::function<int()>;

// Each adds one sub-command with its options and help; parsing sets `chosen` to what it does. The
// command line outlives the application.
void add_launch_command(CLI::App& app, const command_line& line, action& chosen);
void add_bench_command(CLI::App& app, const command_line& line, action& chosen);
/// `bench memory`, below `bench`.
void add_bench_memory_command(CLI::App& bench, action& chosen);
void add_tune_command(CLI::App& app, const command_line& line, action& chosen);
void add_sim_command(CLI::App& app, action& chosen);
void add_scenario_command(CLI::App& app, action& chosen);
/// `scenario run`, below `scenario`.
void add_scenario_run_command(CLI::App& scenario, action& chosen);
/// `scenario shrink`, below `scenario`.
void add_scenario_shrink_command(CLI::App& scenario, action& chosen);
void add_config_command(CLI::App& app, action& chosen);
void add_dump_command(CLI::App& app, action& chosen);
void add_analyze_command(CLI::App& app, action& chosen);
void add_tiers_command(CLI::App& app, action& chosen);
void add_top_command(CLI::App& app, action& chosen);

/// An option whose text one of the parsers of units.hpp reads into `value`.
template <class Value>
CLI::Option* add_quantity(CLI::App& app, const std::string& names, Value& value,
                          outcome<Value> (*parse)(std::string_view), const std::string& help) {
  return app.add_option_function<std::string>(
      names,
      [&value, parse, names](const std::string& text) {
        auto read = parse(text);
        if (!read) throw CLI::ValidationError(names, read.error().message);
        value = *read;
      },
      help);
}

}  // namespace troupe::cli
