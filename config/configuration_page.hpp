#pragma once

#include <string>

namespace troupe::config {

/// docs/configuration.md: how to configure, every option by section, launcher environments, and an
/// example. Made from the tables, so that it cannot say anything else than the program does.
std::string configuration_page();

}  // namespace troupe::config
