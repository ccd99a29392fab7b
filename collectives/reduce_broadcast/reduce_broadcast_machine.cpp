#include "collectives/reduce_broadcast/reduce_broadcast_machine.hpp"

#include "collectives/binomial_tree/binomial_tree_machine.hpp"
#include "collectives/reduce_tree/reduce_tree_machine.hpp"

namespace troupe::collectives {

namespace {

std::uint32_t first_broadcast_step(const reduce_broadcast_state& state) {
  return static_cast<std::uint32_t>(state.reduce.chunk_count);
}

/// The event belongs to one of the two parts, as its step says.
template <class Event>
bool lead(const collective_task& task, reduce_broadcast_state& state, Event event,
          collective_effects& out) {
  const std::uint32_t first = first_broadcast_step(state);
  if (event.step < first) return on_event(task, state.reduce, event, out);
  event.step -= first;
  return on_event(task, state.broadcast, event, out);
}

void advance_broadcast(const collective_task& task, reduce_broadcast_state& state,
                       collective_effects& out) {
  const std::size_t before = out.size();
  advance(task, state.broadcast, out);
  for (std::size_t i = before; i < out.size(); ++i) {
    if (auto* one = std::get_if<put>(&out[i])) one->step += first_broadcast_step(state);
    if (auto* one = std::get_if<accept>(&out[i])) one->step += first_broadcast_step(state);
  }
}

}  // namespace

reduce_broadcast_state make_reduce_broadcast_state(const collective_task& task) {
  return {.reduce = make_reduce_tree_state(task), .broadcast = make_binomial_tree_state(task)};
}

bool on_event(const collective_task& task, reduce_broadcast_state& state, const put_finished& event,
              collective_effects& out) {
  return lead(task, state, event, out);
}

bool on_event(const collective_task& task, reduce_broadcast_state& state,
              const accept_finished& event, collective_effects& out) {
  return lead(task, state, event, out);
}

bool on_event(const collective_task& task, reduce_broadcast_state& state,
              const bytes_finished& event, collective_effects& out) {
  return on_event(task, state.reduce, event, out);
}

void start(const collective_task&, reduce_broadcast_state&, collective_effects&) {}

void advance(const collective_task& task, reduce_broadcast_state& state, collective_effects& out) {
  advance(task, state.reduce, out);
  // In place the broadcast overwrites what the reduce still sends: it waits for that.
  state.reduced = state.reduced || is_complete(task, state.reduce);
  if (state.reduced) advance_broadcast(task, state, out);
}

bool is_complete(const collective_task& task, const reduce_broadcast_state& state) {
  return state.reduced && is_complete(task, state.broadcast);
}

}  // namespace troupe::collectives
