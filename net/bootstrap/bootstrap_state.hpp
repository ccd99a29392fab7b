#pragma once
// Contract draft: the machine's author fills this in.
#include <cstddef>
#include "runtime/strong_types.hpp"
namespace troupe::net {
inline constexpr std::size_t bootstrap_effects_max = 32;
class bootstrap_state;
}
