#include "collectives/dissemination/dissemination_machine.hpp"

#include <bit>

namespace troupe::collectives {

namespace {

std::uint32_t distance_in(std::uint64_t round) {
  return 1u << round;
}

}  // namespace

dissemination_state make_dissemination_state(const collective_task& task) {
  dissemination_state state;
  state.round_count = static_cast<std::uint32_t>(std::bit_width(task.what.size - 1));
  state.puts.width = state.accepts.width = window_width_max;
  return state;
}

bool on_event(const collective_task& task, dissemination_state& state, const put_finished& event,
              collective_effects&) {
  if (event.step >= state.round_count) return false;
  return event.peer == task.after(distance_in(event.step)) && state.puts.finish(event.step);
}

bool on_event(const collective_task& task, dissemination_state& state, const accept_finished& event,
              collective_effects&) {
  if (event.step >= state.round_count) return false;
  return event.peer == task.before(distance_in(event.step)) && state.accepts.finish(event.step);
}

bool on_event(const collective_task&, dissemination_state&, const bytes_finished&,
              collective_effects&) {
  return false;
}

void start(const collective_task&, dissemination_state&, collective_effects&) {}

void advance(const collective_task& task, dissemination_state& state, collective_effects& out) {
  while (state.accepts.posted < state.round_count && state.accepts.has_room()) {
    const std::uint64_t round = state.accepts.posted++;
    out.push_back(accept{task.before(distance_in(round)), static_cast<std::uint32_t>(round), {}});
  }
  // Round k says that everybody who was heard of in the rounds before is here.
  while (state.puts.posted < state.round_count && state.puts.has_room() &&
         state.puts.posted <= state.accepts.finished) {
    const std::uint64_t round = state.puts.posted++;
    out.push_back(put{task.after(distance_in(round)), static_cast<std::uint32_t>(round), {}});
  }
}

bool is_complete(const collective_task&, const dissemination_state& state) {
  return state.puts.finished == state.round_count && state.accepts.finished == state.round_count;
}

}  // namespace troupe::collectives
