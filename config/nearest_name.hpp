#pragma once

#include "config/option_description.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace troupe::config {

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The name of `known`, which is not empty, that is nearest to a name that is none of them.
std::string_view nearest_of(std::string_view unknown_name, std::span<const std::string_view> known);

/// The option whose full name is nearest to a name that is none. A right key in the wrong section
/// is nearer than a similar name.
const option_description& nearest_option(std::string_view unknown_name);

/// The option whose environment variable is nearest to a name that is none.
const option_description& nearest_variable(std::string_view unknown_name);

/// The section whose name is nearest.
const section_description& nearest_section(std::string_view unknown_name);

}  // namespace troupe::config
