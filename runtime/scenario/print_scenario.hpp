#pragma once

#include <string>

#include "runtime/scenario/scenario.hpp"

namespace troupe::scenario {

/// The script as TOML: `read_scenario` reads it to the same script, lines apart.
std::string print_scenario(const script& of);

}  // namespace troupe::scenario
