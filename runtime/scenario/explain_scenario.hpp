#pragma once

#include <string>

#include "runtime/scenario/scenario.hpp"

namespace troupe::scenario {

/// The script as a story in words: who, what they do, what happens to them in which order, and what
/// must hold in the end. Several lines.
std::string explain_scenario(const script& of);

/// "rank 2 is killed", "all ranks lose 1% of their frames": what a fault does.
std::string describe(const fault& what);

/// "ranks 0, 1 end in peer_lost, naming rank 2": what an expectation wants.
std::string describe(const expectation& what);

}  // namespace troupe::scenario
