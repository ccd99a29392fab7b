#pragma once

#include "config/load.hpp"

#include <string>

namespace troupe::config {

/// Every effective value and who set it, as a TOML file that loads to the same options. The secret
/// is a comment, "(set)" or "(not set)".
std::string print_effective(const loaded_options& loaded);

/// The file config/troupe.example.toml: every option at its default under its description.
std::string example_file();

}  // namespace troupe::config
