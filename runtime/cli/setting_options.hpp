#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/operation.hpp"
#include "runtime/result.hpp"

namespace troupe::cli {

/// Options of the configuration by full name, as `communicator_options::settings` takes them.
using setting_list = std::vector<std::pair<std::string, std::string>>;

/// --set section.name=value, as often as wanted.
void add_settings(CLI::App& command, setting_list& settings);

/// --algorithm NAME.
void add_algorithm(CLI::App& command, std::optional<algorithm>& wanted);

/// Errors: bad_argument with all names.
outcome<algorithm> parse_algorithm(std::string_view name);

}  // namespace troupe::cli
