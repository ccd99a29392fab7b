#pragma once

#include <array>
#include <cstddef>

#include "runtime/result.hpp"

namespace troupe::net {

/// 32 bytes from the operating system's generator: the root of all nonces of one endpoint.
/// Errors: system_failure with the errno of getrandom(2).
/// Thread: any; blocks only until the kernel's pool was seeded once after boot.
result<std::array<std::byte, 32>> system_entropy();

}  // namespace troupe::net
