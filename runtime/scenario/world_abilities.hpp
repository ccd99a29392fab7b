#pragma once

#include <string>

#include "runtime/scenario/scenario.hpp"

namespace troupe::scenario {

// What a world can play and judge. Each answer is the reason why it cannot, one clause without the
// world's name; empty if it can.

std::string why_not(world_kind where);
std::string why_not(world_kind where, const fault& what, process_lanes lanes);
std::string why_not(world_kind where, const trigger& when);
std::string why_not(world_kind where, const expectation& what);
std::string why_not(world_kind where, const topology& machines);

}  // namespace troupe::scenario
