#include "net/emulation/detail/completion_queue.hpp"

#include <string>

#include "net/emulation/detail/misuse.hpp"
#include "net/emulation/detail/nic.hpp"

namespace troupe::net::emulation {

void completion_queue::push(const completion& what, bool is_solicited) {
  const auto used = count.load(std::memory_order_relaxed);
  if (used == capacity())
    misuse("completion queue",
           "overrun: it has room for " + std::to_string(capacity()) +
               " completions, all unpolled, and queue pair " + hexadecimal(what.what.qp_num) +
               " completes one more; make it as large as what can be outstanding");
  places[(first + used) % capacity()] = what;
  count.store(used + 1, std::memory_order_release);
  const bool wakes = armed == arming::any || (armed == arming::solicited &&
                                              (is_solicited || what.what.status != IBV_WC_SUCCESS));
  if (!wakes) return;
  armed = arming::none;
  owner->count_armed(-1);
  {
    const std::lock_guard guard(events_mutex);
    ++events_delivered;
  }
  channel->events.push(&handle);
}

completion completion_queue::pop() {
  const completion taken = places[first];
  first = (first + 1) % capacity();
  count.store(count.load(std::memory_order_relaxed) - 1, std::memory_order_release);
  return taken;
}

void completion_queue::forget(const queue_pair& gone) {
  const auto used = count.load(std::memory_order_relaxed);
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < used; ++i) {
    const completion& held = places[(first + i) % capacity()];
    if (held.owner == &gone) continue;
    places[(first + kept++) % capacity()] = held;
  }
  count.store(kept, std::memory_order_release);
}

}  // namespace troupe::net::emulation
