#pragma once

#include "config/options.hpp"
#include "runtime/result.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace troupe::config {

/// Says who set the option of that full name, for the error text.
using describe_origin = std::function<std::string(std::string_view name)>;

/// Checks every option against its own range and against the others. `load` has done so; whoever
/// fills the structs by hand calls it before use.
/// Errors: bad_configuration; the message has both options, their values and who set them.
outcome<void> validate(const options& values, const describe_origin& origin_of);

/// The same where nothing is known about who set what.
outcome<void> validate(const options& values);

}  // namespace troupe::config
