#pragma once

#include <string>
#include <string_view>

#include "config/options.hpp"
#include "config/topology_file.hpp"

namespace troupe::cli {

/// One line: whose place it is, each level or "not known", and who said so.
std::string describe_place(std::string_view whose, const config::found_place& found);

/// A line for each class of peer: what may be in flight to all of its peers, in what pieces, on
/// each lane, and how much a link gets at a time.
std::string tier_table(const config::options& values);

}  // namespace troupe::cli
