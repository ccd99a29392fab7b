#include "net/link/link_machine.hpp"

#include "net/link/detail/link_step.hpp"

namespace troupe::net {

namespace {

using namespace detail;

void on(link_step& step, const lane_opened& e) {
  on_lane_opened(step, e);
}
void on(link_step& step, const lane_failed& e) {
  on_lane_failed(step, e);
}
void on(link_step& step, const message_received& e) {
  on_message_received(step, e);
}
void on(link_step& step, const write_received& e) {
  on_write_received(step, e);
}
void on(link_step& step, const write_finished& e) {
  on_write_finished(step, e);
}
void on(link_step& step, const put_requested& e) {
  on_put_requested(step, e);
}
void on(link_step& step, const accept_requested& e) {
  on_accept_requested(step, e);
}
void on(link_step& step, const operation_cancelled& e) {
  on_operation_cancelled(step, e);
}
void on(link_step& step, const link_abandoned& e) {
  lose(step, e.cause);
}
void on(link_step& step, const epoch_advanced& e) {
  on_epoch_advanced(step, e);
}
void on(link_step& step, const notice_requested& e) {
  on_notice_requested(step, e);
}
void on(link_step& step, const budget_granted& e) {
  on_budget_granted(step, e);
}
void on(link_step& step, const link_timer_fired& e) {
  on_link_timer_fired(step, e);
}
void on(link_step& step, const unmatched_requested& e) {
  step.s.report_unmatched_before = e.older_than;
}
void on(link_step&, const link_resumed&) {}

// Does what the state now asks for, the most urgent first, until the step is full.
pumped pump(link_step& step) {
  if (pump_endings(step) == pumped::until_full) return pumped::until_full;
  if (step.s.lost) {
    pump_loss(step);
    return step.s.lost_reported ? pumped::all : pumped::until_full;
  }
  pump_grants(step);
  if (pump_parking(step) == pumped::until_full) return pumped::until_full;
  fill_control_stream(step);
  if (pump_control(step) == pumped::until_full) return pumped::until_full;
  if (pump_eager(step) == pumped::until_full) return pumped::until_full;
  if (pump_repeats(step) == pumped::until_full) return pumped::until_full;
  if (pump_segments(step) == pumped::until_full) return pumped::until_full;
  if (may_begin(step.s)) return pumped::until_full;
  if (pump_budget(step) == pumped::until_full) return pumped::until_full;
  if (pump_unmatched(step) == pumped::until_full) return pumped::until_full;
  // Last, so that anything above that left took the acknowledgement along.
  pump_acknowledgement(step);
  if (pump_control(step) == pumped::until_full) return pumped::until_full;
  return pump_endings(step);
}

}  // namespace

void step(link_state& state, const link_event& event, instant now, link_effects& out) {
  link_step context{state, now, out};
  std::visit([&](const auto& e) { on(context, e); }, event);
  const auto end = pump(context);
  arm_timer(context);
  if (end == pumped::until_full) out.push_back(resume_soon{});
}

bool needs_key(const link_state& state, std::uint64_t bytes) {
  return bytes > state.options.eager_bytes_max;
}

bool has_put_room(const link_state& state) {
  return !state.transfers.local_full();
}

bool holds_unmatched(const link_state& state) {
  return !state.transfers.empty(transfer_list::unreported);
}

std::uint32_t notice_room(const link_state& state) {
  const auto capacity = static_cast<std::uint32_t>(state.notices.entries.size());
  return state.lost ? 0 : capacity - state.notices.count;
}

}  // namespace troupe::net
