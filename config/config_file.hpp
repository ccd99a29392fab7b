#pragma once

#include <string>
#include <string_view>

#include "runtime/result.hpp"

namespace troupe::config {

/// The text of the file at `path`, as far as one byte beyond the largest that `read_toml` takes.
/// `named_by` says in errors who named it.
/// Errors: bad_configuration for what is not there, is no regular file or cannot be read.
outcome<std::string> read_file(const std::string& path, std::string_view named_by);

}  // namespace troupe::config
