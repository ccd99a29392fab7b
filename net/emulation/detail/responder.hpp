#pragma once

#include <cstdint>

#include "net/emulation/detail/queue_pair.hpp"

namespace troupe::net::emulation {

class nic;

/// Takes the requests that the peer of `qp` has posted: moves their bytes, a slice at a time,
/// completes receives and writes the outcome beside each request.
void serve_requests(nic& owner, queue_pair& qp, std::uint64_t now);

/// Whether the peer of `qp` would take the oldest request of `qp`, now or when it gets to it.
bool would_accept(const nic& owner, const queue_pair& qp);

/// Ends every receive that is posted.
void flush_receives(queue_pair& qp);

}  // namespace troupe::net::emulation
