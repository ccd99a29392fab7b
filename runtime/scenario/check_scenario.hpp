#pragma once

#include <vector>

#include "runtime/result.hpp"
#include "runtime/scenario/scenario.hpp"

namespace troupe::scenario {

/// Refuses what cannot be meant: ranks and machines that do not exist, faults that can never
/// trigger, expectations that contradict each other or what the faults do for certain, and what one
/// of the script's worlds can neither play nor judge.
/// Errors: bad_configuration with file, line and reason; the first in the order of the file's
/// parts.
outcome<void> check_scenario(const script& of);

/// The same for one world alone, which the script has to declare.
outcome<void> check_world(const script& of, world_kind where);

}  // namespace troupe::scenario
