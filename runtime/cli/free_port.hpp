#pragma once

#include <cstdint>
#include <set>
#include <string_view>

#include "runtime/result.hpp"

namespace troupe::cli {

/// Local ports in a table as `/proc/net/tcp` prints it; lines it does not understand are skipped.
std::set<std::uint16_t> ports_in_table(std::string_view table);

/// A TCP port that no socket of this network namespace uses. `wanted` 0: a random one below the
/// range from which the kernel serves outgoing connections, so that none of them takes it before
/// rank 0 listens on it. The port is free when the call returns, not reserved.
/// Errors: bad_argument if `wanted` is in use; system_failure if the kernel's table of sockets
///         cannot be read.
outcome<std::uint16_t> find_free_port(std::uint16_t wanted);

}  // namespace troupe::cli
