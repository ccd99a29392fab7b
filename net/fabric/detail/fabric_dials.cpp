#include <algorithm>

#include "net/fabric/detail/fabric_handles.hpp"
#include "net/fabric/detail/fabric_world.hpp"
#include "runtime/assert.hpp"
#include "runtime/mark.hpp"

namespace troupe::net::detail {

void fabric_world::dial(std::uint32_t endpoint, const lane_address& to, std::uint64_t context,
                        instant deadline) {
  std::uint32_t dial = no_index;
  if (free_dials_.empty()) {
    dial = static_cast<std::uint32_t>(dials_.size());
    dials_.emplace_back();
  } else {
    dial = free_dials_.back();
    free_dials_.pop_back();
  }
  auto& entry = dials_[dial];
  entry.endpoint = endpoint;
  entry.context = context;
  entry.to = to;
  entry.deadline = deadline;
  entry.wire = no_index;
  endpoints_[endpoint].dials.push_back(dial);
  ++endpoints_[endpoint].counters.dials;
  ++totals_.dials;

  const auto& faults = rules_[rule_of(endpoint, fabric_endpoint_of(to))].faults;
  const auto strikes = [&](std::uint32_t one_in) { return one_in != 0 && faults_.one_in(one_in); };
  entry.refused = strikes(faults.refuse_dial_one_in);
  if (!strikes(faults.lose_dial_one_in))
    plan(now_ + wire_delay(entry), event_kind::dial_arrived, dial, entry.generation);
  if (deadline != never)
    plan(std::max(now_, deadline), event_kind::dial_deadline, dial, entry.generation);
}

duration fabric_world::wire_delay(const fabric_dial& dial) {
  return wire_delay(dial.endpoint, fabric_endpoint_of(dial.to));
}

void fabric_world::end_dial(std::uint32_t dial) {
  auto& entry = dials_[dial];
  std::erase(endpoints_[entry.endpoint].dials, dial);
  ++entry.generation;
  free_dials_.push_back(dial);
  drop_stale();
}

void fabric_world::cancel_dial(std::uint32_t endpoint, std::uint64_t context) {
  auto& entry = endpoints_[endpoint];
  for (const auto dial : entry.dials) {
    if (dials_[dial].context != context) continue;
    const auto wire = dials_[dial].wire;
    end_dial(dial);
    if (wire != no_index) release(2 * wire);
    return;
  }
  const auto same = [&](const fabric_notice& notice) {
    return notice.what != network_event::kind::accepted && notice.context == context;
  };
  const auto notice = std::find_if(entry.notices.begin(), entry.notices.end(), same);
  if (notice == entry.notices.end()) return;
  const auto half = notice->half;
  entry.notices.erase(notice);
  if (half != no_index) release(half);
}

void fabric_world::on_dial_arrived(std::uint32_t dial) {
  const auto from = dials_[dial].endpoint;
  const auto to = fabric_endpoint_of(dials_[dial].to);
  const bool exists = to < endpoints_.size();
  const bool silent = exists && (endpoints_[to].host_crashed || !hears(from, to) ||
                                 !hears(to, from) || !choose_plane(from, to));
  if (silent) {
    TROUPE_MARK("fabric: dial into silence");
    return;
  }
  const bool admitted = exists && endpoints_[to].present && !endpoints_[to].refuses_dials &&
                        !dials_[dial].refused && endpoints_[to].accepted_waiting < options_.backlog;
  if (!admitted) {
    if (exists) ++endpoints_[to].refused_total;
    return plan(now_ + wire_delay(dials_[dial]), event_kind::dial_refused, dial,
                dials_[dial].generation);
  }
  const auto wire = open_wire(from, to);
  dials_[dial].wire = wire;
  ++endpoints_[to].accepted_waiting;
  notify(to, {.what = network_event::kind::accepted, .half = 2 * wire + 1});
  const auto answer = now_ + wire_delay(dials_[dial]);
  at(2 * wire + 1).last_arrival = answer;
  plan(answer, event_kind::dial_connected, dial, dials_[dial].generation);
}

void fabric_world::on_dial_refused(std::uint32_t dial) {
  notify(dials_[dial].endpoint, {.what = network_event::kind::dial_failed,
                                 .context = dials_[dial].context,
                                 .cause = {errc::unreachable}});
  end_dial(dial);
}

void fabric_world::on_dial_connected(std::uint32_t dial) {
  notify(dials_[dial].endpoint, {.what = network_event::kind::connected,
                                 .half = 2 * dials_[dial].wire,
                                 .context = dials_[dial].context});
  end_dial(dial);
}

void fabric_world::on_dial_deadline(std::uint32_t dial) {
  TROUPE_MARK("fabric: dial ended at its deadline");
  notify(dials_[dial].endpoint, {.what = network_event::kind::dial_failed,
                                 .context = dials_[dial].context,
                                 .cause = {errc::timed_out}});
  const auto wire = dials_[dial].wire;
  end_dial(dial);
  if (wire != no_index) release(2 * wire);
}

void fabric_world::notify(std::uint32_t endpoint, const fabric_notice& notice) {
  hash(static_cast<std::uint64_t>(to_nanoseconds(now_)));
  hash(static_cast<std::uint64_t>(endpoint) << 8 | static_cast<std::uint64_t>(notice.what) | 0x80);
  hash(notice.context);
  endpoints_[endpoint].notices.push_back(notice);
  make_endpoint_ready(endpoint);
}

std::optional<std::uint32_t> fabric_world::choose_plane(std::uint32_t from, std::uint32_t to) {
  const auto lost = endpoints_[from].planes_lost | endpoints_[to].planes_lost;
  if (plane_count_ == 1) return (lost & 1u) == 0 ? std::optional(0u) : std::nullopt;
  std::array<std::uint32_t, plane_count_max> lanes{};
  each_half([&](std::uint32_t half) {
    const bool between = at(half).endpoint == from && at(half ^ 1u).endpoint == to;
    if (between && !at(half).closed && !at(half).lost) ++lanes[wires_[half >> 1].plane];
  });
  std::optional<std::uint32_t> best;
  for (std::uint32_t plane = 0; plane < plane_count_; ++plane)
    if ((lost >> plane & 1u) == 0 && (!best || lanes[plane] < lanes[*best])) best = plane;
  return best;
}

std::uint32_t fabric_world::open_wire(std::uint32_t from, std::uint32_t to) {
  const auto plane = choose_plane(from, to);
  std::uint32_t wire = 0;
  if (free_wires_.empty()) {
    wire = static_cast<std::uint32_t>(wires_.size());
    wires_.emplace_back();
  } else {
    wire = free_wires_.back();
    free_wires_.pop_back();
  }
  wires_[wire].plane = plane.value_or(0);
  wires_[wire].number = ++wire_total_;
  open_half(2 * wire, from, to);
  open_half(2 * wire + 1, to, from);
  choose_way(2 * wire);
  choose_way(2 * wire + 1);
  return wire;
}

void fabric_world::open_half(std::uint32_t half, std::uint32_t endpoint, std::uint32_t peer) {
  auto& entry = at(half);
  entry.used = true;
  entry.endpoint = endpoint;
  entry.rule = rule_of(endpoint, peer);
  entry.counted = true;
  for (auto* counters : {&endpoints_[endpoint].counters, &totals_}) {
    ++counters->connections;
    counters->connections_max = std::max(counters->connections_max, counters->connections);
  }
}

void fabric_world::set_refusing(std::uint32_t endpoint, bool refuses) {
  endpoint_at(endpoint).refuses_dials = refuses;
}

}  // namespace troupe::net::detail
