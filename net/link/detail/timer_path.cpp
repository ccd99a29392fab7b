#include <algorithm>

#include "net/link/detail/link_step.hpp"
#include "runtime/mark.hpp"

namespace troupe::net::detail {

namespace {

// A lane that completes nothing for `write_timeout` is given up; one that completes others but
// not its oldest write, after this many of them.
constexpr int patience_with_oldest = 4;

// A deadline may be met so late. Chosen: below the shortest time that an option sets by default.
constexpr duration timer_slack = std::chrono::microseconds(250);

bool beats(const link_options& o) {
  return o.heartbeat_interval.count() > 0;
}

bool listens(const link_options& o) {
  return beats(o) && o.silence_timeout.count() > 0;
}

// When this lane breaks its promises if nothing happens on it; `never` if it owes nothing.
instant lane_deadline(const link_state& s, const lane_record& record) {
  if (!record.open) return never;
  const auto timeout = s.options.write_timeout;
  auto deadline = never;
  if (!record.greeted) deadline = saturating_add(record.opened_at, timeout);
  if (record.unfinished.first != no_index) {
    const auto posted = s.sending.at_index(record.unfinished.first).posted_at;
    const auto progressed = std::max(posted, record.progressed_at);
    deadline = std::min({deadline, saturating_add(progressed, timeout),
                         saturating_add(posted, timeout * patience_with_oldest)});
    if (s.held.count > 0)
      deadline = std::min(deadline, saturating_add(std::max(s.held.since, record.progressed_at),
                                                   std::min(s.options.release_timeout, timeout)));
  }
  return std::max(deadline, s.clock.patience_until);
}

instant control_deadline(const link_state& s) {
  const bool waits = s.lanes.control != no_lane && s.clock.control_waits;
  if (!waits) return never;
  return std::max(saturating_add(s.clock.control_progress, s.options.write_timeout),
                  s.clock.patience_until);
}

// When the oldest write that the peer does not have makes us ask for it, then give its lane up: a
// lane may complete what never arrives.
instant data_deadline(const link_state& s) {
  if (s.sending.acknowledged() == s.sending.next()) return never;
  const auto& w = s.sending.at(s.sending.acknowledged());
  const auto& record = s.lanes[w.lane];
  const bool under_way = !w.repeat && record.open && record.generation == w.generation;
  if (!under_way) return never;
  const auto progressed = std::max(w.posted_at, s.clock.data_progress);
  return std::max(saturating_add(progressed, s.options.write_timeout * (s.clock.probed ? 2 : 1)),
                  s.clock.patience_until);
}

// Half of the silence is blamed on the lane that carries the stream, if there is another.
instant suspicion_deadline(const link_state& s) {
  if (!listens(s.options) || !s.clock.started || s.lanes.control == no_lane) return never;
  std::uint32_t open_count = 0;
  for (std::uint8_t lane = 0; lane < s.lanes.count; ++lane) {
    if (s.lanes[lane].open) ++open_count;
  }
  if (open_count < 2) return never;
  const auto since = std::max(s.clock.last_heard, s.clock.control_moved);
  return std::max(saturating_add(since, s.options.silence_timeout / 2), s.clock.patience_until);
}

instant silence_deadline(const link_state& s) {
  if (!listens(s.options) || !s.clock.started) return never;
  return std::max(saturating_add(s.clock.last_heard, s.options.silence_timeout),
                  s.clock.patience_until);
}

instant announce_deadline(const link_state& s) {
  auto deadline = never;
  const auto oldest = s.transfers.first(transfer_list::unannounced);
  if (oldest != no_index) {
    deadline = saturating_add(s.transfers[oldest].since, s.options.announce_delay);
  }
  return std::min(deadline, saturating_add(s.clock.starved_since, s.options.announce_delay));
}

// Heartbeats and acknowledgements that wait for room are not waited for by the clock.
instant speak_deadline(const link_state& s) {
  const bool can = s.lanes.control != no_lane &&
                   s.control.has_room_to_acknowledge(s.acks.told_control != s.control.expected());
  if (!can) return never;
  const auto beat =
      beats(s.options) ? saturating_add(s.clock.last_sent, s.options.heartbeat_interval) : never;
  return std::min(beat, s.acks.deadline);
}

instant next_deadline(const link_state& s) {
  auto deadline = std::min({control_deadline(s), data_deadline(s), suspicion_deadline(s),
                            silence_deadline(s), announce_deadline(s), speak_deadline(s)});
  if (s.budget.available() > 0) deadline = std::min(deadline, s.budget.idle_deadline);
  for (std::uint8_t lane = 0; lane < s.lanes.count; ++lane) {
    deadline = std::min(deadline, lane_deadline(s, s.lanes[lane]));
  }
  return deadline;
}

void announce_waiting_puts(link_step& step) {
  auto& s = step.s;
  while (!s.transfers.empty(transfer_list::unannounced)) {
    const auto index = s.transfers.first(transfer_list::unannounced);
    if (step.now < saturating_add(s.transfers[index].since, s.options.announce_delay)) break;
    s.transfers.move_to(transfer_list::none, index);
    s.transfers.tell(transfer_notice::request, index);
  }
  if (step.now < saturating_add(s.clock.starved_since, s.options.announce_delay)) return;
  TROUPE_MARK("link: starved puts announced");
  s.clock.starved_since = never;
  for (auto index = s.transfers.first(transfer_list::starved); index != no_index;
       index = s.transfers.next_in_list(index)) {
    const auto& t = s.transfers[index];
    if (!t.asked && t.tell == transfer_notice::none) {
      s.transfers.tell(transfer_notice::request, index);
    }
  }
}

// We slept: what the peer did meanwhile waits in the lanes, so it gets time to be heard.
void forgive_own_sleep(link_step& step) {
  auto& s = step.s;
  auto shortest = s.options.write_timeout;
  if (listens(s.options)) shortest = std::min(shortest, s.options.silence_timeout);
  if (s.held.count > 0) shortest = std::min(shortest, s.options.release_timeout);
  if (step.now - s.clock.armed <= shortest / 4) return;
  TROUPE_MARK("link: own timer came late");
  s.clock.patience_until = saturating_add(step.now, shortest / 2);
}

void give_up_silent_lanes(link_step& step) {
  auto& s = step.s;
  for (std::uint8_t lane = 0; lane < s.lanes.count && !s.lost; ++lane) {
    if (step.now < lane_deadline(s, s.lanes[lane])) continue;
    TROUPE_MARK("link: lane given up after its timeout");
    give_up(step, lane);
  }
  if (!s.lost && step.now >= control_deadline(s)) {
    TROUPE_MARK("link: control lane given up without an answer");
    give_up(step, s.lanes.control);
  }
  if (!s.lost && step.now >= suspicion_deadline(s)) {
    TROUPE_MARK("link: control lane given up in silence");
    give_up(step, s.lanes.control);
  }
}

void miss_acknowledgements(link_step& step) {
  auto& s = step.s;
  if (step.now < data_deadline(s)) return;
  if (s.clock.probed) {
    TROUPE_MARK("link: lane given up that completed what never arrived");
    return give_up(step, s.sending.at(s.sending.acknowledged()).lane);
  }
  s.clock.probed = true;
  s.clock.probe_due = true;
}

}  // namespace

void on_link_timer_fired(link_step& step, const link_timer_fired& event) {
  auto& s = step.s;
  if (event.generation != s.clock.generation || s.clock.armed == never || s.lost) return;
  if (step.now < s.clock.armed) return;
  forgive_own_sleep(step);
  s.clock.armed = never;
  if (step.now >= silence_deadline(s)) {
    TROUPE_MARK("link: peer silent for too long");
    return lose(step, step.about_peer(errc::peer_lost));
  }
  give_up_silent_lanes(step);
  if (!s.lost) miss_acknowledgements(step);
  if (!s.lost) announce_waiting_puts(step);
}

void arm_timer(link_step& step) {
  auto& s = step.s;
  if (s.lost) return;
  // On a busy link a timer is due soon anyway; it looks at all deadlines. To look after each step
  // was 3 % of a small operation.
  if (s.clock.armed - step.now <= timer_slack && s.clock.armed >= step.now) return;
  const auto deadline = next_deadline(s);
  if (deadline >= s.clock.armed) return;
  s.clock.armed = deadline;
  step.out.push_back(arm_link_timer{deadline, ++s.clock.generation});
}

}  // namespace troupe::net::detail
