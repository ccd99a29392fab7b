#include <algorithm>
#include <bit>

#include "net/link/detail/link_step.hpp"
#include "runtime/mark.hpp"

namespace troupe::net::detail {

namespace {

bool has_news(const link_state& s) {
  return s.acks.told_control != s.control.expected() || s.acks.told_data != s.receiving.base() ||
         s.acks.told_consumed != s.eager_in.consumed();
}

// Messages that arrived and the peer does not know of it.
std::uint32_t untold_messages(const link_state& s) {
  return s.control.expected() - s.acks.told_control;
}

void on_control_acknowledged(link_step& step, std::uint32_t number) {
  auto& s = step.s;
  const auto before = s.control.base();
  if (!s.control.acknowledge(number)) return lose(step, step.about_peer(errc::malformed));
  if (s.control.base() == before) return;
  s.clock.control_progress = step.now;
  if (s.lanes.control != no_lane) {
    auto& record = s.lanes[s.lanes.control];
    for (auto n = before; n != s.control.base(); ++n) {
      const auto& f = s.control.at(n);
      if (!f.posted_elsewhere) record.messages_consumed = f.lane_place;
    }
  }
  free_channels(step);
}

void post_frame(link_step& step, std::uint8_t lane, control_kind kind, std::uint32_t number,
                std::span<const std::byte> body) {
  post_control message;
  message.lane = lane;
  message.length = static_cast<std::uint16_t>(control_header_bytes + body.size());
  auto header = make_header(step);
  header.number = number;
  const std::span frame(message.frame);
  encode(kind, header, frame.first<control_header_bytes>());
  std::copy(body.begin(), body.end(), frame.begin() + control_header_bytes);
  ++step.s.counters.control_sent;
  ++step.s.lanes[lane].messages_posted;
  step.out.push_back(message);
}

void dispatch(link_step& step, const control_body& body) {
  auto& s = step.s;
  if (const auto* ready = std::get_if<ready_body>(&body)) {
    if (!is_over(step, ready->id)) on_ready(step, *ready);
  } else if (const auto* request = std::get_if<request_body>(&body)) {
    if (!is_over(step, request->id)) on_request(step, *request);
  } else if (const auto* begin = std::get_if<begin_body>(&body)) {
    on_begin(step, *begin);
  } else if (const auto* grant = std::get_if<grant_body>(&body)) {
    on_grant(step, *grant);
  } else if (const auto* decline = std::get_if<decline_body>(&body)) {
    on_decline(step, *decline);
  } else if (const auto* refuse = std::get_if<refuse_body>(&body)) {
    on_refuse(step, *refuse);
  } else if (const auto* cancel = std::get_if<cancel_body>(&body)) {
    on_cancel(step, *cancel);
  } else if (const auto* fenced = std::get_if<lane_fenced_body>(&body)) {
    on_lane_fenced(step, *fenced);
  } else if (const auto* notice = std::get_if<notice_body>(&body)) {
    deliver_notice delivered;
    delivered.length = static_cast<std::uint16_t>(notice->bytes.size());
    std::copy(notice->bytes.begin(), notice->bytes.end(), delivered.frame.begin());
    ++s.counters.notices_received;
    step.out.push_back(delivered);
  }
}

void on_stream_message(link_step& step, const control_message& message) {
  auto& s = step.s;
  switch (s.control.receive(message.header.number)) {
    case control_stream::verdict::duplicate:
      TROUPE_MARK("link: duplicate control message dropped");
      ++s.counters.control_duplicates_dropped;
      acknowledge_at_once(step);
      return;
    case control_stream::verdict::gap: return lose(step, step.about_peer(errc::malformed));
    case control_stream::verdict::fresh: break;
  }
  if (kind_of(message.body) != control_kind::acknowledge) acknowledge_soon(step);
  if (untold_messages(s) >= s.control.answered_count()) acknowledge_at_once(step);
  dispatch(step, message.body);
}

// The body that `what` of this transfer wants said.
control_body body_of(const transfer& t) {
  switch (t.tell) {
    case transfer_notice::ready: return ready_body{t.id, t.signature, t.bytes(), t.key};
    case transfer_notice::request: return request_body{t.id, t.signature, t.bytes()};
    case transfer_notice::grant: return grant_body{t.channel, t.id};
    default: return refuse_body{t.id, t.side, t.refused_with};
  }
}

void append_about(link_step& step, std::uint32_t index) {
  auto& s = step.s;
  auto& t = s.transfers[index];
  const auto what = t.tell;
  const auto number = s.control.append(body_of(t));
  s.transfers.untell(index);
  if (what == transfer_notice::request) {
    t.asked = true;
    t.ask_number = number;
    ++s.counters.requests_sent;
  }
  if (what == transfer_notice::grant) ++s.counters.grants_sent;
  const bool over = t.phase == transfer_phase::ended && t.list == transfer_list::none;
  if (over) s.transfers.remove(index);
}

void append_notice(link_step& step) {
  auto& s = step.s;
  const auto& entry = s.notices.entries[s.notices.first];
  s.control.append(notice_body{std::span(entry.bytes).first(entry.length)});
  s.notices.first = (s.notices.first + 1) % static_cast<std::uint32_t>(s.notices.entries.size());
  --s.notices.count;
  ++s.counters.notices_sent;
}

lane_reset_body closed_lives(const link_state& s) {
  lane_reset_body body;
  for (std::uint8_t lane = 0; lane < s.lanes.count; ++lane) {
    const auto& record = s.lanes[lane];
    if (record.open || record.generation == 0) continue;
    body.lives.push_back({lane, record.told_generation, record.told_peer_generation});
  }
  return body;
}

}  // namespace

void acknowledge_soon(link_step& step) {
  auto& acks = step.s.acks;
  acks.deadline = std::min(acks.deadline, saturating_add(step.now, step.s.options.ack_delay));
}

void acknowledge_at_once(link_step& step) {
  step.s.acks.at_once = true;
}

control_header make_header(link_step& step) {
  auto& s = step.s;
  s.acks = {s.control.expected(), s.receiving.base(), s.eager_in.consumed(), never, false};
  s.clock.last_sent = step.now;
  return {0, s.acks.told_control, s.acks.told_data, s.acks.told_consumed};
}

void post_outside_stream(link_step& step, std::uint8_t lane, const control_body& body) {
  std::array<std::byte, control_body_bytes_max> bytes{};
  const auto length = encode(body, bytes);
  post_frame(step, lane, kind_of(body), 0, std::span(bytes).first(length));
}

void on_acknowledgements(link_step& step, const control_header& header) {
  on_control_acknowledged(step, header.control_acknowledged);
  if (!step.s.lost) on_data_acknowledged(step, header.data_acknowledged);
  if (!step.s.lost) on_slots_consumed(step, header.slots_consumed);
  if (!step.s.lost) retire_writes(step);
}

void on_message_received(link_step& step, const message_received& event) {
  auto& s = step.s;
  if (s.lost || event.lane >= s.lanes.count || !s.lanes[event.lane].open) {
    ++s.counters.stale_lane_dropped;
    return;
  }
  s.clock.last_heard = step.now;
  ++s.counters.control_received;
  const auto message = decode_control(event.bytes);
  if (!message) return lose(step, step.about_peer(message.error().code));
  if (const auto* hello = std::get_if<hello_body>(&message->body)) {
    return on_hello(step, event.lane, *hello);
  }
  on_acknowledgements(step, message->header);
  if (s.lost) return;
  if (const auto* reset = std::get_if<lane_reset_body>(&message->body)) {
    return on_lane_reset(step, *reset);
  }
  on_stream_message(step, *message);
}

void on_notice_requested(link_step& step, const notice_requested& event) {
  auto& s = step.s;
  const auto capacity = static_cast<std::uint32_t>(s.notices.entries.size());
  if (s.lost || s.notices.count == capacity || event.bytes.size() > notice_bytes_max) {
    ++s.counters.notices_rejected;
    return;
  }
  auto& entry = s.notices.entries[(s.notices.first + s.notices.count) % capacity];
  entry.length = static_cast<std::uint16_t>(event.bytes.size());
  std::copy(event.bytes.begin(), event.bytes.end(), entry.bytes.begin());
  ++s.notices.count;
}

void fill_control_stream(link_step& step) {
  auto& s = step.s;
  while (s.control.has_room() && append_fence_page(step)) {
  }
  // Before announcements of transfers: what the peer holds for cancelled ones makes room for them.
  while (s.control.has_room()) {
    const auto operation = s.memory.first_to_tell();
    if (!operation) break;
    s.memory.told_first();
    s.control.append(cancel_body{operation->communicator, operation->epoch, operation->operation});
  }
  while (s.control.has_room() && s.declines != 0) {
    const auto slot = static_cast<std::uint8_t>(std::countr_zero(s.declines));
    s.declines &= s.declines - 1;
    s.control.append(decline_body{slot});
  }
  if (s.control.has_room() && s.clock.probe_due) {
    s.clock.probe_due = false;
    ++s.counters.probes_sent;
    s.control.append(probe_body{});
  }
  while (s.control.has_room() && s.notices.count > 0)
    append_notice(step);
  while (s.control.has_room() && s.transfers.first_for_peer() != no_index) {
    append_about(step, s.transfers.first_for_peer());
  }
  if (s.transfers.first_for_peer() != no_index) TROUPE_MARK("link: control stream full");
  pump_channels(step);
}

pumped pump_control(link_step& step) {
  auto& s = step.s;
  const auto lane = s.lanes.control;
  if (lane == no_lane) return pumped::all;
  auto& record = s.lanes[lane];
  if (s.lanes.reset_due && record.has_message_place()) {
    if (!step.has_room(1)) return pumped::until_full;
    s.lanes.reset_due = false;
    post_outside_stream(step, lane, closed_lives(s));
  }
  while (s.control.has_unposted() && record.has_message_place()) {
    if (!step.has_room(1)) return pumped::until_full;
    auto& f = s.control.unposted();
    const auto number = s.control.unposted_number();
    if (f.posted) ++s.counters.control_repeated;
    f.posted = true;
    f.lane = lane;
    post_frame(step, lane, f.kind, number, std::span(f.body).first(f.length));
    f.lane_place = record.messages_posted;
    s.control.note_posted();
  }
  const bool waits = s.control.awaits_answer();
  if (waits && !s.clock.control_waits) s.clock.control_progress = step.now;
  s.clock.control_waits = waits;
  return pumped::all;
}

void pump_acknowledgement(link_step& step) {
  auto& s = step.s;
  if (s.lanes.control == no_lane) return;
  const bool beat = s.options.heartbeat_interval.count() > 0 &&
                    step.now >= saturating_add(s.clock.last_sent, s.options.heartbeat_interval);
  const bool due = (s.acks.at_once || step.now >= s.acks.deadline) && has_news(s);
  // A repeated message says that the peer missed our acknowledgement though we told it before.
  const bool again = s.acks.at_once && !has_news(s);
  if (!beat && !due && !again) {
    if (step.now >= s.acks.deadline) s.acks.deadline = never;
    return;
  }
  if (!s.control.has_room_to_acknowledge(untold_messages(s) > 0)) {
    TROUPE_MARK("link: acknowledgement waits for room");
    s.acks.at_once = true;
    s.acks.deadline = never;
    return;
  }
  ++(beat && !due ? s.counters.heartbeats_sent : s.counters.acks_sent);
  s.control.append(acknowledge_body{});
}

}  // namespace troupe::net::detail
