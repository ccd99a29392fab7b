#pragma once

#include "runtime/scenario/detail/check_faults.hpp"

namespace troupe::scenario::detail {

/// Expectations of ranks that do not exist, that expect nothing, and that contradict each other or
/// what the faults do for certain.
void check_expectations(script_checker& problems);

}  // namespace troupe::scenario::detail
