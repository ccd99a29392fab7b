#pragma once

#include "config/toml_tree.hpp"
#include "runtime/scenario/detail/table_reader.hpp"
#include "runtime/scenario/scenario.hpp"

namespace troupe::scenario::detail {

/// Reads one [[fault]].
fault read_fault(const config::toml_node& node, text_problem& problem);

/// Reads one [[expect]].
expectation read_expectation(const config::toml_node& node, text_problem& problem);

}  // namespace troupe::scenario::detail
