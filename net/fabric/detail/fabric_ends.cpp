#include <algorithm>

#include "net/fabric/detail/fabric_handles.hpp"
#include "net/fabric/detail/fabric_world.hpp"
#include "runtime/assert.hpp"
#include "runtime/mark.hpp"

namespace troupe::net::detail {

// -- lanes that end -------------------------------------------------------------------------------

// What the wire has of the lane still arrives, the rest is forgotten, then the peer hears the end.
void fabric_world::send_end(std::uint32_t half, error cause) {
  auto& sender = at(half);
  frame_list kept;
  bool keeps = true;
  sender.last_arrival = now_;
  while (sender.out.head != no_index) {
    const auto frame = pop(sender.out);
    keeps = keeps && frames_[frame].buffered;
    if (!keeps) {
      free_frame(frame);
      continue;
    }
    if (frames_[frame].arrival != never)
      sender.last_arrival = std::max(sender.last_arrival, frames_[frame].arrival);
    append(kept, frame);
  }
  const auto end = take_frame();
  frames_[end].what = fabric_frame::kind::end;
  frames_[end].buffered = true;
  frames_[end].cause = cause;
  append(kept, end);
  sender.out = kept;
  sender.unbuffered = no_index;
  if (sender.way != no_index)
    set_out(half, end, now_, now_);
  else
    frames_[end].arrival =
        std::max(now_ + wire_delay(sender.endpoint, at(half ^ 1u).endpoint), sender.last_arrival);
  plan_arrival(half);
}

void fabric_world::close(std::uint32_t half) {
  auto& entry = at(half);
  if (entry.closed) return;
  if (!entry.lost) send_end(half, {errc::peer_lost});
  end_silently(half);
}

// The owner hears nothing of this end any more.
void fabric_world::end_silently(std::uint32_t half) {
  auto& entry = at(half);
  entry.closed = true;
  drop_all(entry.in);
  entry.in_arrivals = 0;
  if (entry.shown_message != no_index) free_frame(std::exchange(entry.shown_message, no_index));
  stop_counting(entry);
  unlink_ready(half);
  at(half ^ 1u).waits_for_inbox = false;
  plan_arrival(half ^ 1u);
}

void fabric_world::release(std::uint32_t half) {
  close(half);
  at(half).lane = nullptr;
  free_if_over(half);
}

void fabric_world::free_if_over(std::uint32_t half) {
  auto& wire = wires_[half >> 1];
  for (const auto& end : wire.half)
    if (!end.closed || end.lane != nullptr) return;
  for (auto& end : wire.half) {
    drop_all(end.out);
    end = {};
  }
  ++wire.generation;
  free_wires_.push_back(half >> 1);
  drop_stale();
}

void fabric_world::stop_counting(fabric_half& half) {
  if (!std::exchange(half.counted, false)) return;
  --endpoints_[half.endpoint].counters.connections;
  --totals_.connections;
}

void fabric_world::set_lost(std::uint32_t half, error cause) {
  auto& entry = at(half);
  if (entry.closed || entry.lost) return;
  drop_all(entry.out);
  entry.unbuffered = no_index;
  entry.lost = true;
  entry.cause = cause;
  stop_counting(entry);
  at(half ^ 1u).waits_for_inbox = false;
  plan_arrival(half ^ 1u);
  make_ready(half);
}

void fabric_world::lose(std::uint32_t half, error cause) {
  auto& entry = at(half);
  if (entry.closed || entry.lost) return;
  send_end(half, cause);
  const auto on_wire = std::exchange(entry.out, {});
  set_lost(half, cause);
  at(half).out = on_wire;
}

void fabric_world::plan_loss(std::uint32_t half, error cause, duration after) {
  auto& entry = at(half);
  if (entry.closed || entry.lost || entry.loss_planned) return;
  entry.loss_planned = true;
  entry.cause = cause;
  plan(saturating_add(now_, after), event_kind::loss, half, wires_[half >> 1].generation);
}

void fabric_world::on_loss(std::uint32_t half) {
  auto& entry = at(half);
  entry.loss_planned = false;
  // Silence is noticed without hearing anything; a refusal has to get through.
  const bool heard = carries(half ^ 1u);
  if (entry.cause.code == errc::timed_out || heard) set_lost(half, entry.cause);
}

void fabric_world::on_give_up(std::uint32_t half) {
  TROUPE_MARK("fabric: lane given up in a partition");
  at(half).waits_for_group = false;
  if (!at(half).closed) return set_lost(half, {errc::timed_out});
  drop_all(at(half).out);
}

// -- endpoints that end ---------------------------------------------------------------------------

void fabric_world::crash(std::uint32_t endpoint, crash_kind how) {
  auto& entry = endpoint_at(endpoint);
  if (!entry.present) return;
  entry.present = false;
  entry.host_crashed = how == crash_kind::host;
  ++entry.incarnation;
  while (!entry.dials.empty()) {
    const auto wire = dials_[entry.dials.back()].wire;
    end_dial(entry.dials.back());
    if (wire != no_index && how == crash_kind::process) close(2 * wire);
  }
  entry.notices.clear();
  entry.accepted_waiting = 0;
  each_half([&](std::uint32_t half) {
    if (at(half).endpoint != endpoint || at(half).closed) return;
    if (how == crash_kind::process) {
      close(half);
    } else {
      drop_all(at(half).out);
      at(half).unbuffered = no_index;
      end_silently(half);
      plan_loss(half ^ 1u, {errc::timed_out}, options_.detection_delay);
    }
    free_if_over(half);
  });
}

void fabric_world::pause(std::uint32_t endpoint) {
  auto& entry = endpoint_at(endpoint);
  entry.paused = true;
  std::erase(ready_, endpoint);
}

void fabric_world::resume(std::uint32_t endpoint) {
  auto& entry = endpoint_at(endpoint);
  if (!std::exchange(entry.paused, false)) return;
  if (entry.ready) ready_.push_back(endpoint);
}

// -- who hears whom -------------------------------------------------------------------------------

bool fabric_world::hears(std::uint32_t from, std::uint32_t to) const {
  if (groups_differ_ && endpoints_[from].group != endpoints_[to].group) return false;
  if (blocked_.empty()) return true;
  return !std::binary_search(blocked_.begin(), blocked_.end(), std::pair(from, to));
}

bool fabric_world::carries(std::uint32_t half) const {
  const auto from = at(half).endpoint, to = at(half ^ 1u).endpoint;
  const auto lost = endpoints_[from].planes_lost | endpoints_[to].planes_lost;
  return (lost >> wires_[half >> 1].plane & 1u) == 0 && hears(from, to);
}

void fabric_world::set_group(std::uint32_t endpoint, std::uint32_t group) {
  endpoint_at(endpoint).group = group;
  groups_differ_ = false;
  for (const auto& entry : endpoints_)
    groups_differ_ = groups_differ_ || entry.group != 0;
  on_hearing_changed();
}

void fabric_world::block(std::uint32_t from, std::uint32_t to) {
  endpoint_at(std::max(from, to));
  const std::pair pair(from, to);
  const auto place = std::lower_bound(blocked_.begin(), blocked_.end(), pair);
  if (place == blocked_.end() || *place != pair) blocked_.insert(place, pair);
}

void fabric_world::unblock(std::uint32_t from, std::uint32_t to) {
  std::erase(blocked_, std::pair(from, to));
  on_hearing_changed();
}

// What waited goes on; an end whose peer ended meanwhile hears it now.
void fabric_world::on_hearing_changed() {
  each_half([&](std::uint32_t half) {
    auto& entry = at(half);
    const auto& peer = at(half ^ 1u);
    if (entry.waits_for_group && carries(half)) {
      entry.waits_for_group = false;
      plan_arrival(half);
    }
    const bool peer_ended = (peer.closed || peer.lost) && peer.out.head == no_index;
    if (peer_ended && carries(half ^ 1u))
      plan_loss(half, {errc::peer_lost}, wire_delay(peer.endpoint, entry.endpoint));
  });
}

// -- faults ---------------------------------------------------------------------------------------

std::uint16_t fabric_world::rule_of(std::uint32_t from, std::uint32_t to) const {
  for (std::size_t i = 1; i < rules_.size(); ++i)
    if (rules_[i].from == from && rules_[i].to == to) return static_cast<std::uint16_t>(i);
  return 0;
}

void fabric_world::set_faults(std::uint32_t from, std::uint32_t to, const fabric_faults& faults) {
  auto rule = from == no_index ? std::uint16_t{0} : rule_of(from, to);
  if (rule == 0 && from != no_index) {
    TROUPE_ASSERT(rules_.size() < 0xffffu);
    rule = static_cast<std::uint16_t>(rules_.size());
    rules_.push_back({from, to, {}});
  }
  rules_[rule].faults = faults;
  each_half([&](std::uint32_t half) {
    at(half).rule = rule_of(at(half).endpoint, at(half ^ 1u).endpoint);
  });
}

void fabric_world::set_endpoint_faults(std::uint32_t endpoint, const fabric_faults& faults) {
  endpoint_at(endpoint).faults = faults;
}

void fabric_world::lose_completions(std::uint32_t endpoint, std::uint32_t count) {
  endpoint_at(endpoint).completions_to_lose = count;
}

void fabric_world::inject(std::uint32_t half, lane_fault fault) {
  auto& next = at(half).next_faults;
  next = static_cast<std::uint8_t>(next | 1u << static_cast<unsigned>(fault));
}

void fabric_world::lose_between(std::uint32_t a, std::uint32_t b) {
  each_half([&](std::uint32_t half) {
    if (at(half).endpoint == a && at(half ^ 1u).endpoint == b) lose(half, {errc::peer_lost});
  });
}

void fabric_world::lose_newest_between(std::uint32_t a, std::uint32_t b, std::uint32_t count) {
  std::vector<std::uint32_t> halves;
  each_half([&](std::uint32_t half) {
    const bool between = at(half).endpoint == a && at(half ^ 1u).endpoint == b;
    if (between && !at(half).closed && !at(half).lost) halves.push_back(half);
  });
  std::sort(halves.begin(), halves.end(), [this](std::uint32_t left, std::uint32_t right) {
    return wires_[left >> 1].number > wires_[right >> 1].number;
  });
  halves.resize(std::min<std::size_t>(halves.size(), count));
  for (const auto half : halves)
    lose(half, {errc::peer_lost});
}

// -- planes ---------------------------------------------------------------------------------------

void fabric_world::lose_port(std::uint32_t endpoint, std::uint32_t plane) {
  TROUPE_ASSERT(plane < plane_count_);
  endpoint_at(endpoint).planes_lost |= 1u << plane;
}

void fabric_world::restore_port(std::uint32_t endpoint, std::uint32_t plane) {
  endpoint_at(endpoint).planes_lost &= ~(1u << plane);
  on_hearing_changed();
}

}  // namespace troupe::net::detail
