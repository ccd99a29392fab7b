#include "actors/collective/turn_machine.hpp"

#include <algorithm>

#include "runtime/mark.hpp"

namespace troupe::actors {

namespace {

template <class Slots>
bool contains(const Slots& slots, operation_slot slot) {
  return std::find(slots.begin(), slots.end(), slot) != slots.end();
}

void on(turn_state& state, const turn_wanted& event, turn_effects& out) {
  if (!event.is_collective || contains(state.running, event.slot)) {
    out.push_back(go_on{event.slot});
    return;
  }
  if (state.running.size() >= state.running_count_max && !event.is_oldest) {
    TROUPE_MARK("turn: a collective waits");
    if (!contains(state.waiting, event.slot)) state.waiting.push_back(event.slot);
    return;
  }
  std::erase(state.waiting, event.slot);
  state.running.push_back(event.slot);
  out.push_back(go_on{event.slot});
}

void on(turn_state& state, const oldest_named& event, turn_effects& out) {
  if (std::erase(state.waiting, event.slot) == 0) return;
  TROUPE_MARK("turn: a waiting collective became the oldest");
  state.running.push_back(event.slot);
  out.push_back(start_waiter{event.slot});
}

void on(turn_state& state, const turn_ended& event, turn_effects& out) {
  std::erase(state.waiting, event.slot);
  std::erase(state.running, event.slot);
  if (state.waiting.empty() || state.running.size() >= state.running_count_max) return;
  const auto next = state.waiting.front();
  state.waiting.pop_front();
  state.running.push_back(next);
  out.push_back(start_waiter{next});
}

}  // namespace

void step(turn_state& state, const turn_event& event, turn_effects& out) {
  std::visit([&](const auto& e) { on(state, e, out); }, event);
}

}  // namespace troupe::actors
