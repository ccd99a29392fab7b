#include "collectives/local/local_machine.hpp"

namespace troupe::collectives {

namespace {

constexpr std::uint32_t only_token = 0;

}  // namespace

local_state make_local_state(const collective_task& task) {
  return {.done = task.what.path.algorithm != algorithm::local_copy};
}

bool on_event(const collective_task&, local_state&, const put_finished&, collective_effects&) {
  return false;
}

bool on_event(const collective_task&, local_state&, const accept_finished&, collective_effects&) {
  return false;
}

bool on_event(const collective_task&, local_state& state, const bytes_finished& event,
              collective_effects&) {
  if (state.done || event.token != only_token) return false;
  state.done = true;
  return true;
}

void start(const collective_task& task, local_state& state, collective_effects& out) {
  if (state.done) return;
  copy effect;
  effect.token = only_token;
  effect.target = task.buffers.receive;
  effect.source = task.buffers.send;
  effect.scale = task.scales();
  out.push_back(effect);
}

void advance(const collective_task&, local_state&, collective_effects&) {}

bool is_complete(const collective_task&, const local_state& state) {
  return state.done;
}

}  // namespace troupe::collectives
