#pragma once

#include <sys/types.h>

#include <cstdint>

#include "runtime/result.hpp"

namespace troupe::scenario {

// Faults of sockets that another process owns (defined in actors/, where sockets are known).

/// Shuts connections of TCP between two processes of this host down, as their peers would: at most
/// `count` of them, those that carried most first; 0: all. Returns how many there were.
/// Errors: not_available if the kernel does not let us reach into the process (pidfd_getfd, Linux
///         5.6, ptrace_scope at most 1); system_failure.
outcome<std::uint32_t> cut_connections(pid_t one, pid_t other, std::uint32_t count);

/// Connects to a port of this host on which the process listens, and says nonsense.
/// Errors: not_available if it listens on none; system_failure.
outcome<void> talk_garbage_to(pid_t process);

}  // namespace troupe::scenario
