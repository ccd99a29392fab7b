#include "actors/qp_group/link_reporting.hpp"

namespace troupe::actors {

link_report report_on(const net::link_state& state, instant now) {
  link_report out;
  out.peer = state.options.peer;
  out.lanes_wanted = state.lanes.count;
  for (std::uint8_t i = 0; i < state.lanes.count; ++i)
    out.lanes_open += state.lanes[i].open;
  out.lanes_lost =
      static_cast<std::uint32_t>(state.counters.lane_failures + state.counters.lanes_given_up);
  out.last_heard = state.clock.last_heard;
  out.last_sent = state.clock.last_sent;
  out.lost = state.lost;
  out.waits_for_credit = state.clock.starved_since != never;
  out.waits_for_budget = state.budget.requested != 0;
  out.looked = now;
  return out;
}

std::string silence_of(const net::link_state& state, const std::string& peer, instant now) {
  const auto limit = state.options.silence_timeout;
  const auto silent = now - state.clock.last_heard;
  if (!state.clock.started || limit == duration::zero() || silent < limit) return {};
  return "nothing was heard of " + peer + " for " +
         std::to_string(silent / std::chrono::seconds(1)) + " s";
}

}  // namespace troupe::actors
