#pragma once

#include <cstdint>

#include "net/emulation/detail/queue_pair.hpp"

namespace troupe::net::emulation {

class nic;

/// Sends a request, the first time or again: when it leaves and arrives by the network's model and
/// the faults of the device, `never` if it is lost.
void transmit(nic& owner, queue_pair& qp, send_entry& entry, send_record& record,
              std::uint64_t now);

/// One way from the peer of `qp` back to us.
std::uint64_t answer_latency_ns(const nic& owner, const queue_pair& qp);

}  // namespace troupe::net::emulation
