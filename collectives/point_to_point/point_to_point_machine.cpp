#include "collectives/point_to_point/point_to_point_machine.hpp"

namespace troupe::collectives {

namespace {

constexpr std::uint32_t only_step = 0;

struct transfer_end {
  rank peer;
  std::uint32_t step = 0;
};

bool finish_transfer(const collective_task& task, point_to_point_state& state,
                     const transfer_end& end) {
  const bool open = state.posted && !state.finished;
  if (!open || end.peer != task.what.peer || end.step != only_step) return false;
  state.finished = true;
  return true;
}

}  // namespace

bool on_event(const collective_task& task, point_to_point_state& state, const put_finished& event,
              collective_effects&) {
  return task.kind() == operation_kind::send &&
         finish_transfer(task, state, {event.peer, event.step});
}

bool on_event(const collective_task& task, point_to_point_state& state,
              const accept_finished& event, collective_effects&) {
  return task.kind() == operation_kind::receive &&
         finish_transfer(task, state, {event.peer, event.step});
}

bool on_event(const collective_task&, point_to_point_state&, const bytes_finished&,
              collective_effects&) {
  return false;
}

void start(const collective_task& task, point_to_point_state& state, collective_effects& out) {
  state.posted = true;
  if (task.kind() == operation_kind::send)
    out.push_back(put{task.what.peer, only_step, task.buffers.send});
  else
    out.push_back(accept{task.what.peer, only_step, task.buffers.receive});
}

void advance(const collective_task&, point_to_point_state&, collective_effects&) {}

bool is_complete(const collective_task&, const point_to_point_state& state) {
  return state.finished;
}

}  // namespace troupe::collectives
