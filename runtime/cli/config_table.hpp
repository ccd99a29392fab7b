#pragma once

#include <string>

#include "config/load.hpp"

namespace troupe::cli {

/// Every option in one line: full name, effective value, who set it. The secret's value is not
/// among them.
std::string config_table(const config::loaded_options& loaded);

}  // namespace troupe::cli
