#include "actors/qp_group/qp_group_actor.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "actors/endpoint/spawn_actor.hpp"
#include "actors/qp_group/link_reporting.hpp"
#include "actors/qp_group/link_setup.hpp"
#include "actors/rank/rank_messages.hpp"
#include "runtime/assert.hpp"

namespace troupe::actors {

namespace {

// Rounds of one lane before others get their turn.
constexpr std::size_t rounds_per_poll = 8;

}  // namespace

void qp_group_actor_state::init(qp_group_actor::pointer self, endpoint_context& context,
                                rank peer) {
  self_ = self;
  context_ = &context;
  peer_ = peer;
  tier_ = context.tier_of(peer);
  timer_ = context.timers.create(*this);
  make_rings();
  context.send(context.bootstrap, link_request{peer});
}

lane_kind qp_group_actor_state::lanes_to_peer() const {
  const auto* book = context_->book_owner;
  const bool known = book != nullptr && book->book.contains(peer_);
  return known ? context_->network.kind_to(book->book.at(peer_).address) : context_->network.kind();
}

void qp_group_actor_state::make_rings() {
  auto options = make_link_options(context_->options, peer_, tier_, lanes_to_peer());
  const auto bytes = net::eager_ring_bytes(options);
  slot_bytes_ = net::eager_slot_bytes(options);
  parking_bytes_ = options.eager_bytes_max;
  // Not cleared: pages are taken by use, so an idle link costs address space only.
  rings_held_ = {&context_->ledger, memory_purpose::rings, 2 * bytes};
  receive_ring_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
  staging_ring_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
  const auto receive = context_->buffers.add(receive_ring_.get(), bytes);
  TROUPE_ASSERT(receive.has_value());
  const auto staging = context_->buffers.add(staging_ring_.get(), bytes);
  TROUPE_ASSERT(staging.has_value());
  receive_view_ = *receive;
  staging_view_ = *staging;
  const auto key = context_->buffers.expose(receive_view_);
  TROUPE_ASSERT(key.has_value());
  eager_key_ = *key;
  options.eager_key = eager_key_;
  options.receive_ring = {receive_ring_.get(), bytes};
  options.staging_ring = staging_view_;
  state_ = std::make_unique<net::link_state>(options, context_->ledger.of(memory_purpose::links));
  state_held_ = {&context_->ledger, memory_purpose::links, sizeof *state_};
}

qp_group_actor_state::~qp_group_actor_state() {
  if (context_ == nullptr) return;
  watch_unmatched(false);
  context_->recorder.board.forget_link(peer_);
  close_lanes();
  context_->timers.destroy(timer_);
  context_->buffers.withdraw(eager_key_);
  context_->buffers.release(receive_view_.id);
  context_->buffers.release(staging_view_.id);
}

qp_group_actor::behavior_type qp_group_actor_state::make_behavior() {
  auto counted = [this] { context_->on_message(actor_kind::qp_group, self_->mailbox().size()); };
  return {[this, counted](const put_request& message) { counted(), on_put(message); },
          [this, counted](const accept_request& message) { counted(), on_accept(message); },
          [this, counted](const exchange_request& message) {
            counted();
            on_put(message.put);
            on_accept(message.accept);
          },
          [this, counted](const cancel_request& message) { counted(), on_cancel(message); },
          [this, counted](const notice_request& message) {
            counted();
            send_notice(message.frame);
          },
          [this, counted](const frame_request& message) { counted(), send_frame(*message.frame); },
          [this, counted](const epoch_raised& message) {
            counted();
            drive(net::epoch_advanced{message.communicator, message.epoch});
          },
          [this, counted](const unmatched_request& message) {
            counted();
            drive(net::unmatched_requested{message.older_than});
            note_link();
          },
          [this, counted](const lane_given& message) { counted(), on_lane_given(message); },
          [this, counted](const link_doomed& message) {
            counted();
            drive(net::link_abandoned{message.why->what});
          },
          [this, counted](const lease_granted& message) {
            counted();
            drive(net::budget_granted{message.bytes});
          },
          [this, counted](const leave_request&) {
            counted();
            if (!opened_ || lost_) {
              context_->send(context_->endpoint, link_left{peer_});
              return;
            }
            send_notice(std::make_shared<const notice_frame>(
                encode(notice{notice_kind::leaving, {}, {}, {}})));
          }};
}

void qp_group_actor_state::drive(const net::link_event& event) {
  effects_.clear();
  resume_ = false;
  net::step(*state_, event, context_->now(), effects_);
  for (const auto& effect : effects_)
    apply(effect);
  while (resume_) {
    effects_.clear();
    resume_ = false;
    net::step(*state_, net::link_resumed{}, context_->now(), effects_);
    for (const auto& effect : effects_)
      apply(effect);
  }
  publish();
}

void qp_group_actor_state::apply(const net::link_effect& effect) {
  std::visit([this](const auto& e) { apply_one(e); }, effect);
}

// -- effects --------------------------------------------------------------------------------------

void qp_group_actor_state::apply_one(const net::post_segment& effect) {
  // A dead lane says so when it is polled; the machine keeps within its depth.
  if (auto& l = lanes_[effect.lane]) {
    const auto status = l->post_write(effect.write);
    TROUPE_ASSERT(status != post_status::full);
  }
}

void qp_group_actor_state::apply_one(const net::post_control& effect) {
  if (auto& l = lanes_[effect.lane]) {
    const auto status = l->post_message(effect.bytes());
    TROUPE_ASSERT(status != post_status::full);
  }
}

void qp_group_actor_state::apply_one(const net::stage_eager& effect) {
  auto* slot = staging_ring_.get() + effect.slot * slot_bytes_;
  std::memcpy(slot, effect.header.data(), effect.header.size());
  const auto* source = context_->buffers.resolve(effect.source);
  if (effect.source.bytes != 0)
    std::memcpy(slot + effect.header.size(), source, effect.source.bytes);
}

void qp_group_actor_state::apply_one(const net::drain_eager& effect) {
  if (effect.bytes == 0) return;
  const auto* slot = receive_ring_.get() + effect.slot * slot_bytes_;
  std::memcpy(context_->buffers.resolve(effect.target), slot + net::eager_header_bytes,
              effect.bytes);
}

void qp_group_actor_state::apply_one(const net::park_eager& effect) {
  if (!parking_) {
    const auto bytes = parking_bytes_ * net::parking_place_count(state_->options);
    parking_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
    parking_held_ = {&context_->ledger, memory_purpose::rings, bytes};
  }
  const auto* slot = receive_ring_.get() + effect.slot * slot_bytes_;
  if (effect.bytes != 0)
    std::memcpy(parking_.get() + effect.place * parking_bytes_, slot + net::eager_header_bytes,
                effect.bytes);
}

void qp_group_actor_state::apply_one(const net::unpark_eager& effect) {
  if (effect.bytes == 0) return;
  std::memcpy(context_->buffers.resolve(effect.target),
              parking_.get() + effect.place * parking_bytes_, effect.bytes);
}

void qp_group_actor_state::apply_one(const net::report_put& effect) {
  report(effect.token, true, effect.failed, effect.theirs);
}

void qp_group_actor_state::apply_one(const net::report_accept& effect) {
  report(effect.token, false, effect.failed, effect.theirs);
}

void qp_group_actor_state::report(std::uint64_t token, bool was_put, error failed,
                                  const operation_signature& theirs) {
  if (token == nobodys_token) return;
  const auto slot = slot_of(token);
  if (const auto* entry = context_->operations.find(slot))
    context_->send(entry->runner,
                   transfer_ended{slot, peer_, step_of(token), was_put, failed, theirs});
}

void qp_group_actor_state::apply_one(const net::release_source& effect) {
  report(effect.token, true, error{errc::aborted, 0, peer_}, {});
}

void qp_group_actor_state::apply_one(const net::report_refused& effect) {
  const auto found = context_->ranks.find(effect.id.communicator.value);
  if (found != context_->ranks.end())
    context_->send(found->second, transfer_unmatched{peer_, effect.id.operation, effect.theirs});
}

void qp_group_actor_state::apply_one(const net::report_written& effect) {
  if (effect.failed.code != errc::ok || !notifies(effect.id)) return;
  const auto found = context_->ranks.find(effect.id.communicator.value);
  if (found != context_->ranks.end())
    context_->send(found->second, window_written{window_of(effect.id), peer_});
}

void qp_group_actor_state::apply_one(const net::withdraw_key& effect) {
  context_->buffers.withdraw(effect.key, effect.how);
}

void qp_group_actor_state::apply_one(const net::report_unmatched& effect) {
  const auto found = context_->ranks.find(effect.id.communicator.value);
  if (found != context_->ranks.end())
    context_->send(found->second, transfer_unmatched{peer_, effect.id.operation, effect.theirs});
}

void qp_group_actor_state::apply_one(const net::request_budget& effect) {
  context_->send(context_->dqplb[static_cast<std::size_t>(tier_)],
                 lease_request{peer_, effect.bytes});
}

void qp_group_actor_state::apply_one(const net::return_budget& effect) {
  context_->send(context_->dqplb[static_cast<std::size_t>(tier_)],
                 lease_return{peer_, effect.bytes});
}

void qp_group_actor_state::apply_one(const net::arm_link_timer& effect) {
  context_->timers.arm(timer_, effect.deadline, effect.generation);
}

void qp_group_actor_state::apply_one(const net::close_lane& effect) {
  // Kept until the link is gone or the lane is replaced: the caller may be polling it.
  if (auto& l = lanes_[effect.lane]) {
    lane_router::set_owner(*l, nullptr);
    l->close();
  }
  note_link();
  if (effect.is_missed) context_->send(context_->bootstrap, lane_request{peer_, effect.lane});
}

void qp_group_actor_state::apply_one(const net::report_lost& effect) {
  if (std::exchange(lost_, true)) return;
  if (opened_) context_->counters.links_lost.add(1);
  note_silence();
  close_lanes();
  const auto dead = context_->dead.find(peer_);
  const auto why = dead != context_->dead.end()
                       ? dead->second
                       : std::make_shared<const failure>(
                             error{effect.cause.code, effect.cause.native, peer_},
                             context_->describe(peer_) + ": every connection to it is lost");
  context_->send(context_->endpoint, link_closed{peer_, peer_leaving_ || context_->leaving, why});
}

void qp_group_actor_state::apply_one(const net::resume_soon&) {
  resume_ = true;
}

// -- messages -------------------------------------------------------------------------------------

void qp_group_actor_state::on_put(const put_request& message) {
  if (message.token == nobodys_token && !net::has_put_room(*state_))
    return refuse_fetch(message.id);
  drive(net::put_requested{message.id, message.signature, message.source, message.token,
                           message.window});
}

void qp_group_actor_state::on_accept(const accept_request& message) {
  std::uint64_t key = 0;
  if (net::needs_key(*state_, message.target.bytes)) {
    const auto exposed = context_->buffers.expose(message.target);
    if (!exposed) {
      report(message.token, false, exposed.error(), {});
      return;
    }
    key = *exposed;
  }
  drive(net::accept_requested{message.id, message.signature, message.target, key, message.token});
}

void qp_group_actor_state::on_cancel(const cancel_request& message) {
  // Puts that a lane still reads end one by one, each in `release_source`.
  drive(net::operation_cancelled{message.communicator, message.epoch, message.operation});
  if (const auto* entry = context_->operations.find(message.slot))
    context_->send(entry->runner, cancel_ended{message.slot, peer_});
}

void qp_group_actor_state::on_lane_given(const lane_given& message) {
  const auto found = context_->lane_shelf.find(message.connection);
  if (found == context_->lane_shelf.end()) return;
  auto given = std::move(found->second);
  context_->lane_shelf.erase(found);
  if (lost_ || message.lane >= lanes_.size()) {
    given->close();
    return;
  }
  auto& place = lanes_[message.lane];
  place = std::move(given);
  lane_router::set_owner(*place, this);
  const auto depth = place->depth();
  drive(net::lane_opened{message.lane, depth});
  note_link();
  if (!std::exchange(opened_, true)) {
    context_->counters.links_open.add(1);
    context_->send(context_->endpoint, link_opened{peer_});
  }
  // What arrived between the handshake and now was not announced to us.
  if (place) on_lane_ready(*place);
}

void qp_group_actor_state::on_lane_ready(lane& ready) {
  const auto found =
      std::find_if(lanes_.begin(), lanes_.end(), [&](const auto& l) { return l.get() == &ready; });
  if (found == lanes_.end()) return;
  const auto index = static_cast<std::uint8_t>(found - lanes_.begin());
  for (std::size_t round = 0; round < rounds_per_poll; ++round) {
    const auto count = ready.poll(events_);
    for (std::size_t i = 0; i < count; ++i)
      on_lane_event(index, events_[i]);
    const bool more = count == events_.size() ||
                      (count != 0 && events_[count - 1].what == lane_event::kind::message_arrived);
    if (!more || found->get() != &ready) break;
  }
  if (!notices_.empty()) flush_notices();
}

void qp_group_actor_state::on_lane_event(std::uint8_t index, const lane_event& event) {
  switch (event.what) {
    case lane_event::kind::write_completed: drive(net::write_finished{index, event.context}); break;
    case lane_event::kind::write_arrived:
    case lane_event::kind::write_refused:
      drive(net::write_received{index, event.immediate, event.bytes,
                                event.what == lane_event::kind::write_refused});
      break;
    case lane_event::kind::message_arrived:
      drive(net::message_received{index, event.message});
      break;
    case lane_event::kind::lane_lost: drive(net::lane_failed{index, event.cause}); break;
  }
}

void qp_group_actor_state::on_timer(std::uint64_t generation) {
  drive(net::link_timer_fired{generation});
}

void qp_group_actor_state::close_lanes() {
  for (auto& l : lanes_) {
    if (!l) continue;
    lane_router::set_owner(*l, nullptr);
    l->close();
  }
}

// A peer that waits for a call which ended here without a transfer (a count of zero against another
// count) is noticed only by asking this link later, so the watchdog is told that there is something
// to ask for.
void qp_group_actor_state::watch_unmatched(bool waiting) {
  if (std::exchange(unmatched_waiting_, waiting) == waiting) return;
  if (!waiting) {
    --context_->unmatched_links;
    return;
  }
  ++context_->unmatched_links;
  context_->wake_watchdog();
}

/// For dumps: asked for while operations last, and whenever a lane comes or goes.
void qp_group_actor_state::note_link() {
  context_->recorder.board.note(report_on(*state_, context_->now()));
}

void qp_group_actor_state::note_silence() {
  if (auto text = silence_of(*state_, context_->describe(peer_), context_->now()); !text.empty())
    context_->recorder.board.note(
        {incident_kind::peer_silent, context_->now(), peer_, errc::timed_out, std::move(text)});
}

void qp_group_actor_state::publish() {
  watch_unmatched(!lost_ && net::holds_unmatched(*state_));
  const auto& now = state_->counters;
  auto& out = context_->counters;
  out.segment_bytes_to[static_cast<std::size_t>(tier_)].add(now.segment_bytes_sent -
                                                            published_.segment_bytes_sent);
  out.segments_sent.add(now.segments_sent - published_.segments_sent);
  out.segment_bytes_sent.add(now.segment_bytes_sent - published_.segment_bytes_sent);
  out.eager_messages_sent.add(now.eager_sent - published_.eager_sent);
  out.control_messages_sent.add(now.control_sent - published_.control_sent);
  out.stale_dropped.add(now.stale_epoch_dropped + now.stale_operation_dropped -
                        published_.stale_epoch_dropped - published_.stale_operation_dropped);
  out.duplicates_dropped.add(now.duplicates_dropped - published_.duplicates_dropped);
  const auto lanes_lost =
      now.lane_failures + now.lanes_given_up - published_.lane_failures - published_.lanes_given_up;
  out.lanes_lost.add(lanes_lost);
  if (lanes_lost != 0)
    context_->recorder.board.note({incident_kind::lane_lost, context_->now(), peer_, errc::ok,
                                   "a lane to " + context_->describe(peer_) + " died"});
  out.lanes_rebuilt.add(now.lanes_rebuilt - published_.lanes_rebuilt);
  published_ = now;
}

qp_group_actor spawn_qp_group(endpoint_context& context, rank peer) {
  return spawn_actor<qp_group_actor, qp_group_actor_state>(context, peer);
}

}  // namespace troupe::actors
