#include <algorithm>
#include <bit>

#include "net/link/detail/link_step.hpp"
#include "runtime/mark.hpp"

namespace troupe::net::detail {

namespace {

// Why the owner's put cannot be taken; ok if it can.
error reason_to_reject(link_step& step, const put_requested& event) {
  auto& s = step.s;
  const auto operation = operation_of(event.id);
  if (s.lost) return s.lost_cause;
  if (s.memory.is_below_floor(event.id.communicator, event.id.epoch) ||
      s.memory.cancelled_here(operation) || s.memory.cancelled_by_peer(operation)) {
    TROUPE_MARK("link: put of an operation that is over");
    return step.about_peer(errc::aborted);
  }
  if (s.transfers.local_full()) {
    TROUPE_MARK("link: more puts than the table holds");
    return step.about_peer(errc::queue_full);
  }
  const auto index = s.transfers.find(event.id, transfer_side::put);
  if (index != no_index && s.transfers[index].local) return step.about_peer(errc::bad_argument);
  return {};
}

std::uint64_t slot_offset(const link_state& s, std::uint32_t slot) {
  return slot * eager_slot_bytes(s.options);
}

// Stages the put in `slot`, posts it and reports it: its bytes are copied.
void send_eager(link_step& step, std::uint32_t index, std::uint32_t slot, std::uint8_t lane) {
  auto& s = step.s;
  auto& t = s.transfers[index];
  const auto told = make_header(step);
  const eager_header header{t.id,
                            t.signature,
                            static_cast<std::uint32_t>(t.bytes()),
                            told.control_acknowledged,
                            told.data_acknowledged,
                            told.slots_consumed};
  stage_eager staged{slot, {}, t.memory};
  encode(header, staged.header);
  step.out.push_back(staged);

  auto& w = s.sending.push();
  w.length = static_cast<std::uint32_t>(eager_header_bytes + t.bytes());
  w.slot = static_cast<std::uint8_t>(slot);
  w.fast = true;
  w.notify = true;
  w.offset = slot_offset(s, slot);
  s.eager_out.staged |= 1ull << slot;
  ++s.counters.eager_sent;
  s.counters.eager_bytes_sent += t.bytes();
  post(step, w, lane);
  finish(step, index, {});
}

// True if the put at the head may go now; with a request under way it must wait for the peer to
// have it, or the request would arrive behind its own transfer.
bool may_go(const link_state& s, const transfer& t) {
  return !t.asked || s.control.has_reached(t.ask_number);
}

pumped pump_starved(link_step& step) {
  auto& s = step.s;
  while (!s.transfers.empty(transfer_list::starved)) {
    const auto index = s.transfers.first(transfer_list::starved);
    if (!may_go(s, s.transfers[index])) return pumped::all;
    if (!s.eager_out.has_credit()) {
      const auto& newest = s.transfers[s.transfers.last(transfer_list::starved)];
      const bool unknown_to_peer = !newest.asked && newest.tell == transfer_notice::none;
      if (unknown_to_peer && s.clock.starved_since == never) s.clock.starved_since = step.now;
      return pumped::all;
    }
    if (s.sending.in_use() == s.sending.capacity()) return pumped::all;
    const auto lane = s.lanes.pick_for_eager();
    if (lane == no_lane) return pumped::all;
    if (!step.has_room(3)) return pumped::until_full;
    s.clock.starved_since = never;
    send_eager(step, index, s.eager_out.take_slot(), lane);
  }
  s.clock.starved_since = never;
  return pumped::all;
}

pumped pump_granted(link_step& step) {
  auto& s = step.s;
  while (!s.transfers.empty(transfer_list::granted)) {
    const auto index = s.transfers.first(transfer_list::granted);
    const auto slot = s.transfers[index].channel;
    if (s.eager_out.is_staged(slot)) return pumped::all;
    if (s.sending.in_use() == s.sending.capacity()) return pumped::all;
    const auto lane = s.lanes.pick_for_eager();
    if (lane == no_lane) return pumped::all;
    if (!step.has_room(3)) return pumped::until_full;
    TROUPE_MARK("link: put sent in a granted slot");
    send_eager(step, index, slot, lane);
  }
  return pumped::all;
}

// Room for a segment: a part of the window stays free for eager writes.
bool has_segment_room(const link_state& s) {
  const auto reserve = s.sending.capacity() / 8;
  return s.sending.in_use() + reserve < s.sending.capacity();
}

void send_segment(link_step& step, std::uint32_t index, std::uint64_t length, std::uint8_t lane) {
  auto& s = step.s;
  auto& t = s.transfers[index];
  auto& w = s.sending.push();
  w.length = static_cast<std::uint32_t>(length);
  w.offset = t.cursor;
  w.transfer = index;
  w.slot = t.channel;
  t.cursor += length;
  w.notify = t.stopped || t.cursor == t.bytes();
  w.reads_source = length > 0;
  if (w.reads_source) ++t.reading;
  ++t.unretired;
  w.charged = length > 0;
  s.budget.used += budget_charge(s.options, length);
  ++s.counters.segments_sent;
  s.counters.segment_bytes_sent += length;
  if (w.notify) {
    t.phase = transfer_phase::put_flushing;
    s.transfers.move_to(transfer_list::none, index);
  } else {
    s.transfers.move_to(transfer_list::sending, index);
  }
  post(step, w, lane);
}

// A notification vouches for everything put into windows before it. Transfers take turns on the
// lanes, so it begins when the last bytes of those have their numbers.
bool must_follow(const link_state& s, const transfer& t) {
  if (!is_window_put(t.id) || !notifies(t.id)) return false;
  auto index = s.transfers.first(transfer_list::sending);
  while (index != no_index && !is_window_put(s.transfers[index].id))
    index = s.transfers.next_in_list(index);
  return index != no_index;
}

}  // namespace

void on_put_requested(link_step& step, const put_requested& event) {
  auto& s = step.s;
  const auto rejected = reason_to_reject(step, event);
  if (rejected.code != errc::ok) {
    ++s.counters.transfers_rejected;
    step.out.push_back(report_put{event.token, rejected, {}});
    return;
  }
  auto index = s.transfers.find(event.id, transfer_side::put);
  const bool ready = index != no_index;
  if (!ready) index = s.transfers.add(event.id, transfer_side::put);
  auto& t = s.transfers[index];
  s.transfers.make_local(index);
  const auto theirs = t.signature;
  const bool same = !ready || agrees(t, event.signature, event.source.bytes);
  t.signature = event.signature;
  t.memory = event.source;
  t.token = event.token;
  t.since = step.now;
  if (is_window_put(event.id)) {
    t.key = event.window.key;
    t.target_offset = event.window.offset;
    t.phase = transfer_phase::put_queued;
    s.transfers.move_to(transfer_list::queued, index);
  } else if (!same) {
    finish_mismatched(step, index, theirs);
  } else if (ready) {
    t.phase = transfer_phase::put_queued;
    s.transfers.move_to(transfer_list::queued, index);
  } else if (needs_key(s, t.bytes())) {
    t.phase = transfer_phase::put_unready;
    s.transfers.move_to(transfer_list::unannounced, index);
  } else {
    t.phase = transfer_phase::put_starved;
    s.transfers.move_to(transfer_list::starved, index);
  }
}

void on_ready(link_step& step, const ready_body& body) {
  auto& s = step.s;
  const auto index = s.transfers.find(body.id, transfer_side::put);
  if (index == no_index) {
    auto* early = add_early(step, body.id, transfer_side::put, transfer_phase::ready_early);
    if (early == nullptr) return;
    early->signature = body.signature;
    early->memory.bytes = body.bytes;
    early->key = body.key;
    return;
  }
  auto& t = s.transfers[index];
  const bool waits =
      t.phase == transfer_phase::put_unready || t.phase == transfer_phase::put_starved;
  if (!waits) return lose(step, step.about_peer(errc::malformed));
  if (!agrees(t, body.signature, body.bytes)) {
    TROUPE_MARK("link: mismatch found by the put side");
    return finish_mismatched(step, index, body.signature);
  }
  t.key = body.key;
  t.phase = transfer_phase::put_queued;
  s.transfers.untell(index);
  s.transfers.move_to(transfer_list::queued, index);
}

void on_grant(link_step& step, const grant_body& body) {
  auto& s = step.s;
  if (body.slot < s.eager_out.credit_count || body.slot >= s.options.eager_slot_count) {
    return lose(step, step.about_peer(errc::malformed));
  }
  const auto index = s.transfers.find(body.id, transfer_side::put);
  if (index == no_index || s.transfers[index].phase != transfer_phase::put_starved) {
    TROUPE_MARK("link: grant of a put that is gone");
    s.declines |= 1ull << body.slot;
    return;
  }
  auto& t = s.transfers[index];
  t.phase = transfer_phase::put_granted;
  t.channel = body.slot;
  s.transfers.move_to(transfer_list::granted, index);
}

void stop_put(link_step& step, std::uint32_t index, error failed, transfer_closing closing) {
  auto& s = step.s;
  auto& t = s.transfers[index];
  const bool held_before = t.is_held();
  const bool told_before = t.closing == transfer_closing::silent;
  if (!told_before && t.closing != transfer_closing::release) t.closing = closing;
  if (t.phase == transfer_phase::put_granted) {
    TROUPE_MARK("link: granted put stopped before it was sent");
    s.declines |= 1ull << t.channel;
  }
  if (t.phase != transfer_phase::put_sending && t.phase != transfer_phase::put_flushing) {
    finish(step, index, failed);
    return;
  }
  TROUPE_MARK("link: put stopped with writes under way");
  t.stopped = true;
  t.failed = failed;
  if (t.closing == transfer_closing::release && t.reading == 0) {
    s.transfers.tell(transfer_notice::release, index);
  }
  if (!held_before && t.is_held()) {
    ++s.held.count;
    s.held.since = step.now;
  }
}

void free_channels(link_step& step) {
  auto& channels = step.s.channels_out;
  for (auto left = channels.closing; left != 0; left &= left - 1) {
    const auto channel = static_cast<std::uint32_t>(std::countr_zero(left));
    if (!step.s.control.has_reached(channels.begin_number[channel])) continue;
    channels.closing &= ~(1ull << channel);
    channels.free |= 1ull << channel;
  }
}

bool may_begin(const link_state& s) {
  if (s.transfers.empty(transfer_list::queued) || !s.control.has_room()) return false;
  return s.channels_out.free != 0 &&
         !must_follow(s, s.transfers[s.transfers.first(transfer_list::queued)]);
}

void pump_channels(link_step& step) {
  auto& s = step.s;
  while (!s.transfers.empty(transfer_list::queued) && s.control.has_room()) {
    if (s.channels_out.free == 0) {
      TROUPE_MARK("link: all channels in use");
      return;
    }
    const auto index = s.transfers.first(transfer_list::queued);
    auto& t = s.transfers[index];
    if (must_follow(s, t)) {
      TROUPE_MARK("link: notification held behind earlier puts");
      return;
    }
    const auto channel = static_cast<std::uint8_t>(std::countr_zero(s.channels_out.free));
    s.channels_out.free &= ~(1ull << channel);
    s.channels_out.begin_number[channel] = s.control.append(begin_body{channel, t.id, t.bytes()});
    t.channel = channel;
    t.phase = transfer_phase::put_sending;
    s.transfers.move_to(transfer_list::sending, index);
  }
}

pumped pump_eager(link_step& step) {
  if (pump_granted(step) == pumped::until_full) return pumped::until_full;
  return pump_starved(step);
}

pumped pump_segments(link_step& step) {
  auto& s = step.s;
  while (!s.transfers.empty(transfer_list::sending)) {
    const auto index = s.transfers.first(transfer_list::sending);
    auto& t = s.transfers[index];
    if (!has_segment_room(s)) return pumped::all;
    const auto length = t.stopped ? 0 : next_length(s, t);
    // A put into a window may have no bytes: then it is its notification.
    if (length == 0 && !t.stopped && t.cursor != t.bytes()) return pumped::all;
    if (!step.has_room(1)) return pumped::until_full;
    const auto lane = pick_for_data(s);
    if (lane == no_lane) return pumped::all;
    send_segment(step, index, length, lane);
  }
  return pumped::all;
}

}  // namespace troupe::net::detail
