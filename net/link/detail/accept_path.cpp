#include <algorithm>

#include "net/link/detail/link_step.hpp"
#include "runtime/mark.hpp"

namespace troupe::net::detail {

namespace {

// Chosen: a sender that may have few segments in flight (a lease of 8 MiB is 32 of 256 KiB) must
// not wait for the acknowledgement delay; one message for 2 MiB is lost in the noise.
constexpr std::uint32_t acknowledged_segment_count = 8;

error reason_to_reject(link_step& step, const accept_requested& event) {
  auto& s = step.s;
  const auto operation = operation_of(event.id);
  if (s.lost) return s.lost_cause;
  if (s.memory.is_below_floor(event.id.communicator, event.id.epoch) ||
      s.memory.cancelled_here(operation) || s.memory.cancelled_by_peer(operation)) {
    TROUPE_MARK("link: accept of an operation that is over");
    return step.about_peer(errc::aborted);
  }
  if (s.transfers.local_full()) return step.about_peer(errc::queue_full);
  const auto index = s.transfers.find(event.id, transfer_side::accept);
  const bool taken = index != no_index && s.transfers[index].local;
  const bool keyless = needs_key(s, event.target.bytes) && event.key == 0;
  if (taken || keyless) return step.about_peer(errc::bad_argument);
  return {};
}

void announce(link_step& step, std::uint32_t index) {
  auto& t = step.s.transfers[index];
  t.phase = transfer_phase::accept_announced;
  step.s.transfers.move_to(transfer_list::none, index);
  step.s.transfers.tell(transfer_notice::ready, index);
}

// The accept is there and the peer waits with an eager put: it gets a granted slot in turn.
void queue_for_grant(link_step& step, std::uint32_t index) {
  step.s.transfers[index].phase = transfer_phase::accept_granting;
  step.s.transfers.move_to(transfer_list::granting, index);
}

// What the peer asked for and the accept agree: the answer depends on the size.
void answer_request(link_step& step, std::uint32_t index) {
  if (needs_key(step.s, step.s.transfers[index].bytes())) {
    announce(step, index);
  } else {
    queue_for_grant(step, index);
  }
}

// Ends the use of a channel once both its `begin` and its notification are here.
void settle_channel(link_step& step, accept_channel& channel) {
  if (!channel.begun || !channel.ended) return;
  const auto index = channel.transfer;
  const bool whole = !channel.refused;
  const auto bytes = channel.bytes;
  channel = {};
  if (index == no_index) return;
  auto& t = step.s.transfers[index];
  if (whole && bytes == t.bytes()) return finish(step, index, {});
  if (!whole && is_window_put(t.id)) {
    TROUPE_MARK("link: put into a window that is gone");
    return finish_mismatched(step, index, t.signature);
  }
  TROUPE_MARK("link: notification of a put that was stopped");
  finish(step, index, step.about_peer(errc::aborted));
}

// What the peer writes into a window of ours has no accept: its entry is made by its `begin`.
std::uint32_t add_window_put(link_step& step, const begin_body& body) {
  auto& transfers = step.s.transfers;
  if (transfers.early_full()) {
    lose(step, step.about_peer(errc::malformed));
    return no_index;
  }
  const auto index = transfers.add(body.id, transfer_side::accept);
  auto& t = transfers[index];
  t.memory.bytes = body.bytes;
  t.phase = transfer_phase::accept_receiving;
  t.channel = body.channel;
  t.since = step.now;
  return index;
}

void on_segment_arrived(link_step& step, const write_received& event, const immediate& arrived) {
  auto& s = step.s;
  auto& channel = s.channels_in[arrived.channel];
  if (event.refused) {
    channel.refused = true;
    ++s.counters.segments_refused;
  } else {
    channel.bytes += event.bytes;
    ++s.counters.segments_received;
    s.counters.segment_bytes_received += event.bytes;
  }
  s.receiving.note(arrived);
}

void release_notifications(link_step& step) {
  auto& s = step.s;
  while (const auto released = s.receiving.release()) {
    auto& channel = s.channels_in[*released];
    if (channel.ended) return lose(step, step.about_peer(errc::malformed));
    channel.ended = true;
    if (!channel.begun) TROUPE_MARK("link: notification released before its begin came");
    acknowledge_at_once(step);
    settle_channel(step, channel);
  }
  const auto untold = distance(s.acks.told_data, s.receiving.base());
  const auto enough = std::min(acknowledged_segment_count, s.sending.capacity() / 4);
  if (untold >= std::max(1u, enough)) acknowledge_at_once(step);
  if (untold > 0) acknowledge_soon(step);
}

}  // namespace

void on_accept_requested(link_step& step, const accept_requested& event) {
  auto& s = step.s;
  const auto rejected = reason_to_reject(step, event);
  if (rejected.code != errc::ok) {
    ++s.counters.transfers_rejected;
    if (event.key != 0) step.out.push_back(withdraw_key{event.key});
    step.out.push_back(report_accept{event.token, rejected, {}});
    return;
  }
  auto index = s.transfers.find(event.id, transfer_side::accept);
  const bool early = index != no_index;
  if (!early) index = s.transfers.add(event.id, transfer_side::accept);
  auto& t = s.transfers[index];
  s.transfers.make_local(index);
  const auto theirs = t.signature;
  const bool same = !early || agrees(t, event.signature, event.target.bytes);
  t.signature = event.signature;
  t.token = event.token;
  t.key = event.key;
  t.since = step.now;
  if (early && t.phase != transfer_phase::request_early) {
    if (same) copy_early_eager(step, index, event.target);
    release_early_eager(step, index);
    t.memory = event.target;
    same ? finish(step, index, {}) : finish_mismatched(step, index, theirs);
    return;
  }
  t.memory = event.target;
  if (!same) {
    finish_mismatched(step, index, theirs);
  } else if (early) {
    answer_request(step, index);
  } else if (needs_key(s, t.bytes())) {
    announce(step, index);
  } else {
    t.phase = transfer_phase::accept_waiting;
  }
}

void on_write_received(link_step& step, const write_received& event) {
  auto& s = step.s;
  if (s.lost || event.lane >= s.lanes.count || !s.lanes[event.lane].open) {
    ++s.counters.stale_lane_dropped;
    return;
  }
  s.clock.last_heard = step.now;
  auto arrived = decode_immediate(event.immediate);
  switch (s.receiving.classify(arrived.number)) {
    case receive_window::verdict::duplicate:
      TROUPE_MARK("link: duplicate write dropped");
      ++s.counters.duplicates_dropped;
      return;
    case receive_window::verdict::beyond: ++s.counters.beyond_window_dropped; return;
    case receive_window::verdict::fresh: break;
  }
  if (arrived.fast) {
    // An eager message is whole in its write and matched by its id: it need not wait for bulk that
    // was posted before it, so its notification is not one of the window's.
    arrived.notify = false;
    s.receiving.note(arrived);
    if (event.refused) return lose(step, step.about_peer(errc::malformed));
    on_eager_arrived(step, arrived.channel, event.bytes);
    if (s.lost) return;
  } else {
    on_segment_arrived(step, event, arrived);
  }
  release_notifications(step);
}

void on_request(link_step& step, const request_body& body) {
  auto& s = step.s;
  const auto index = s.transfers.find(body.id, transfer_side::accept);
  if (index == no_index) {
    auto* early = add_early(step, body.id, transfer_side::accept, transfer_phase::request_early);
    if (early == nullptr) return;
    early->signature = body.signature;
    early->memory.bytes = body.bytes;
    return;
  }
  auto& t = s.transfers[index];
  const bool eager_here = t.phase == transfer_phase::accept_waiting;
  const bool announced_here = t.phase == transfer_phase::accept_announced;
  if (!eager_here && !announced_here) return;  // answered already: request and answer crossed
  if (!agrees(t, body.signature, body.bytes)) {
    TROUPE_MARK("link: mismatch found by the request of a waiting put");
    return finish_mismatched(step, index, body.signature);
  }
  if (eager_here) queue_for_grant(step, index);
}

void on_begin(link_step& step, const begin_body& body) {
  auto& s = step.s;
  auto& channel = s.channels_in[body.channel];
  if (channel.begun) return lose(step, step.about_peer(errc::malformed));
  channel.begun = true;
  channel.transfer = s.transfers.find(body.id, transfer_side::accept);
  if (is_window_put(body.id)) {
    if (channel.transfer != no_index) return lose(step, step.about_peer(errc::malformed));
    if (!is_over(step, body.id)) channel.transfer = add_window_put(step, body);
    if (s.lost) return;
  } else if (channel.transfer != no_index) {
    auto& t = s.transfers[channel.transfer];
    const bool announced =
        t.phase == transfer_phase::accept_announced && t.tell == transfer_notice::none;
    if (!announced) return lose(step, step.about_peer(errc::malformed));
    t.phase = transfer_phase::accept_receiving;
    t.channel = body.channel;
  } else {
    TROUPE_MARK("link: begin of a transfer that is gone");
  }
  settle_channel(step, channel);
}

void on_decline(link_step& step, const decline_body& body) {
  if (!step.s.eager_in.decline(body.slot)) lose(step, step.about_peer(errc::malformed));
}

void on_refuse(link_step& step, const refuse_body& body) {
  auto& s = step.s;
  const bool about_put = body.side == transfer_side::accept;
  const auto index =
      s.transfers.find(body.id, about_put ? transfer_side::put : transfer_side::accept);
  const bool early = index != no_index && !s.transfers[index].local;
  if (early) drop_early(step, index);
  if (early || index == no_index) {
    if (!about_put || is_over(step, body.id)) return;
    TROUPE_MARK("link: eager put refused after it was reported");
    step.out.push_back(report_refused{body.id, body.signature});
    return;
  }
  auto& t = s.transfers[index];
  const bool under_way =
      t.phase == transfer_phase::put_sending || t.phase == transfer_phase::put_flushing;
  if (under_way && is_window_put(t.id)) {
    // All of it is at the peer, or it could not say so; a lane still has to complete it.
    t.failed = step.about_peer(errc::mismatch);
    return;
  }
  switch (t.phase) {
    case transfer_phase::put_starved:
    case transfer_phase::put_unready:
    case transfer_phase::put_queued:
    case transfer_phase::accept_waiting:
    case transfer_phase::accept_announced:
    case transfer_phase::accept_granting:
    case transfer_phase::accept_granted:
      TROUPE_MARK("link: transfer refused by the peer");
      finish(step, index, step.about_peer(errc::mismatch), body.signature);
      return;
    default: lose(step, step.about_peer(errc::malformed));
  }
}

void pump_grants(link_step& step) {
  auto& s = step.s;
  while (!s.transfers.empty(transfer_list::granting)) {
    const auto index = s.transfers.first(transfer_list::granting);
    auto& t = s.transfers[index];
    if (!s.eager_in.take_granted(t.channel)) return;
    t.phase = transfer_phase::accept_granted;
    s.transfers.move_to(transfer_list::none, index);
    s.transfers.tell(transfer_notice::grant, index);
  }
}

}  // namespace troupe::net::detail
