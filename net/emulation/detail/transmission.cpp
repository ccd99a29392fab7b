#include "net/emulation/detail/transmission.hpp"

#include <algorithm>

#include "net/emulation/detail/device_faults.hpp"
#include "net/emulation/detail/nic.hpp"
#include "net/emulation/detail/peer.hpp"
#include "net/emulation/detail/settings.hpp"
#include "net/emulation/network_model.hpp"

namespace troupe::net::emulation {

namespace {

constexpr std::uint32_t million = 1'000'000;

// Sends over the wire of this distance. The receiver's port is shared by everybody who sends to it.
passage pass_port(nic& owner, const queue_pair& qp, const wire_model& wire, std::uint64_t bytes,
                  std::uint64_t now) {
  auto& sender_free_at = owner.wire_free_at(qp.far);
  if (qp.remote == nullptr || !qp.remote->is_ready()) return pass(wire, bytes, now, now, 0);
  auto& shared = qp.remote->memory().header().wire_free_at[static_cast<std::size_t>(qp.far)];
  auto receiver_free_at = shared.load(std::memory_order_relaxed);
  passage made;
  do {
    made = pass(wire, bytes, now, sender_free_at, receiver_free_at);
  } while (!shared.compare_exchange_weak(receiver_free_at, made.receiver_free_at));
  sender_free_at = made.sender_free_at;
  return made;
}

}  // namespace

void transmit(nic& owner, queue_pair& qp, send_entry& entry, send_record& record,
              std::uint64_t now) {
  auto& faults = owner.faults();
  const auto& wire = process_settings().network.wire(qp.far);
  auto bytes = entry.bytes;
  if (owner.draw(million) < faults.duplicate_ppm.load(std::memory_order_relaxed)) {
    // The second copy takes its time on the wire and is dropped by its sequence number.
    ++faults.duplicates;
    bytes *= 2;
  }
  passage made{.departs_at = now, .arrives_at = now};
  if (wire.byte_ps != 0)
    made = pass_port(owner, qp, wire, bytes, now);
  else
    made.arrives_at += wire.latency_ns;
  made.arrives_at += faults.delay_ns.load(std::memory_order_relaxed);
  if (const auto window = faults.reorder_ns.load(std::memory_order_relaxed); window != 0)
    made.arrives_at += owner.draw(window + 1);
  if (owner.draw(million) < faults.loss_ppm.load(std::memory_order_relaxed)) made.is_lost = true;
  if (made.is_lost) ++faults.lost;
  record.departs_at = made.departs_at;
  // A queue pair keeps its order whatever happens to one message.
  qp.send.last_arrival = std::max(qp.send.last_arrival, made.arrives_at);
  entry.arrives_at.store(made.is_lost ? never : qp.send.last_arrival, std::memory_order_relaxed);
  entry.attempt.store(entry.attempt.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

std::uint64_t answer_latency_ns(const nic& owner, const queue_pair& qp) {
  return process_settings().network.wire(qp.far).latency_ns +
         owner.faults().delay_ns.load(std::memory_order_relaxed);
}

}  // namespace troupe::net::emulation
