#include "collectives/ftar/ftar_machine.hpp"

#include "collectives/dissemination/dissemination_machine.hpp"
#include "collectives/ring/ring_machine.hpp"

namespace troupe::collectives {

namespace {

// The ring's tokens are those of pieces, below 2^32 - 1 by `step_count_max`.
constexpr std::uint32_t save_token = 0xffff'ffffu;

/// Steps of the confirmation come behind the ring's.
std::uint32_t first_confirmation_step(const ftar_state& state) {
  return static_cast<std::uint32_t>(state.ring.shape.piece_count());
}

bool is_confirmation(const ftar_state& state, std::uint32_t step) {
  return step >= first_confirmation_step(state);
}

/// Renumbers what the confirmation posted from `first` on.
void shift_steps(const ftar_state& state, std::size_t first, collective_effects& out) {
  for (std::size_t i = first; i < out.size(); ++i) {
    if (auto* one = std::get_if<put>(&out[i])) one->step += first_confirmation_step(state);
    if (auto* one = std::get_if<accept>(&out[i])) one->step += first_confirmation_step(state);
  }
}

template <class Event>
bool on_transfer(const collective_task& task, ftar_state& state, const Event& event,
                 collective_effects& out) {
  if (!is_confirmation(state, event.step))
    return state.phase == ftar_phase::exchanging &&
           on_event(state.exchange, state.ring, event, out);
  if (state.phase != ftar_phase::confirming) return false;
  Event shifted = event;
  shifted.step -= first_confirmation_step(state);
  return on_event(task, state.confirmation, shifted, out);
}

}  // namespace

ftar_state make_ftar_state(const collective_task& task) {
  ftar_state state;
  state.exchange = task;
  state.exchange.in_place = false;
  if (task.in_place) {
    state.exchange.buffers.send = task.buffers.saved;
    state.phase = ftar_phase::saving;
  }
  state.ring = make_ring_state(state.exchange);
  state.confirmation = make_dissemination_state(task);
  return state;
}

bool on_event(const collective_task& task, ftar_state& state, const put_finished& event,
              collective_effects& out) {
  return on_transfer(task, state, event, out);
}

bool on_event(const collective_task& task, ftar_state& state, const accept_finished& event,
              collective_effects& out) {
  return on_transfer(task, state, event, out);
}

bool on_event(const collective_task&, ftar_state& state, const bytes_finished& event,
              collective_effects& out) {
  if (state.phase == ftar_phase::exchanging)
    return on_event(state.exchange, state.ring, event, out);
  if (state.phase != ftar_phase::saving || event.token != save_token) return false;
  state.phase = ftar_phase::exchanging;
  return true;
}

void start(const collective_task& task, ftar_state& state, collective_effects& out) {
  if (state.phase != ftar_phase::saving) return;
  copy effect;
  effect.token = save_token;
  effect.target = state.exchange.buffers.send;
  effect.source = task.buffers.receive;
  out.push_back(effect);
}

void advance(const collective_task& task, ftar_state& state, collective_effects& out) {
  if (state.phase == ftar_phase::exchanging) {
    advance(state.exchange, state.ring, out);
    if (is_complete(state.exchange, state.ring)) state.phase = ftar_phase::confirming;
  }
  if (state.phase != ftar_phase::confirming) return;
  const std::size_t first = out.size();
  advance(task, state.confirmation, out);
  shift_steps(state, first, out);
  if (is_complete(task, state.confirmation)) state.phase = ftar_phase::over;
}

bool is_complete(const collective_task&, const ftar_state& state) {
  return state.phase == ftar_phase::over;
}

}  // namespace troupe::collectives
