#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "runtime/result.hpp"

namespace troupe::net::detail {

/// Copies `bytes` from `source`, an address of process `process`, to `to`. Returns how many were
/// copied, at least one.
/// Errors: peer_lost with errno in `native`: the process is gone, the address is not readable, or
///         reading it is not permitted (any more).
result<std::uint64_t> pull(::pid_t process, std::byte* to, std::uint64_t source,
                           std::uint64_t bytes);

/// Whether `process` may be read and holds `value` at `source`: it is the process that said so.
/// Errors: native has the errno of a refusal; 0 if another number stands there.
result<void> probe(::pid_t process, std::uint64_t source, std::uint64_t value);

/// A copy within this process, for pieces too large for the caches nearby.
void copy_within(std::byte* to, const std::byte* from, std::uint64_t bytes);

}  // namespace troupe::net::detail
