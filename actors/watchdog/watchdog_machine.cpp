#include "actors/watchdog/watchdog_machine.hpp"

namespace troupe::actors {

void look(watchdog_state& state, std::span<const watched_operation> running, bool unmatched_waiting,
          instant now, watchdog_verdict& out) {
  out.expired.clear();
  out.ask_unmatched_older_than = never;
  out.next_look = never;
  if (running.empty() && !unmatched_waiting) return;
  for (const auto& operation : running)
    if (!operation.stopping && operation.deadline <= now) out.expired.push_back(operation.slot);
  if (now - state.unmatched_asked >= state.mismatch_after) {
    state.unmatched_asked = now;
    out.ask_unmatched_older_than = now - state.mismatch_after;
  }
  out.next_look = saturating_add(now, state.interval);
}

}  // namespace troupe::actors
