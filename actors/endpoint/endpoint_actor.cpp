#include "actors/endpoint/endpoint_actor.hpp"

#include <utility>

#include "actors/bootstrap/bootstrap_actor.hpp"
#include "actors/collector/collector_actor.hpp"
#include "actors/dqplb/dqplb_actor.hpp"
#include "actors/endpoint/spawn_actor.hpp"
#include "actors/qp_group/qp_group_actor.hpp"
#include "actors/rank/rank_actor.hpp"
#include "actors/watchdog/watchdog_actor.hpp"

namespace troupe::actors {

namespace {

constexpr communicator_id world_communicator{1};

// How long leaving waits for peers to see everything that was sent to them. Chosen: far above a
// round trip, and short enough for a process that ends while a peer is stopped.
constexpr duration leave_patience = std::chrono::milliseconds(500);

}  // namespace

void endpoint_actor_state::init(endpoint_actor::pointer self, endpoint_context& context,
                                net::bootstrap_options bootstrap,
                                const std::array<std::byte, 32>& entropy) {
  self_ = self;
  context_ = &context;
  bootstrap_options_ = std::move(bootstrap);
  entropy_ = entropy;
  std::uint64_t seed = 0;
  for (std::size_t i = 0; i < sizeof seed; ++i)
    seed = seed << 8 | std::to_integer<std::uint64_t>(entropy[i]);
  context.tokens = random_stream(seed).fork(0x70c3);
  context.endpoint = endpoint_actor{self};
  context.home.add(context.router);
  context.home.add(context.mover);
  context.home.add(context.timers);
  if (context.exits) context.home.add(*context.exits);
  leave_timer_ = context.timers.create(*this);
  self->set_down_handler([this](caf::down_msg& message) { on_down(message); });
}

endpoint_actor_state::~endpoint_actor_state() {
  if (context_ == nullptr) return;
  context_->timers.destroy(leave_timer_);
}

endpoint_actor::behavior_type endpoint_actor_state::make_behavior() {
  auto counted = [this] { context_->on_message(actor_kind::endpoint, self_->mailbox().size()); };
  return {[this, counted](const join_requested& message) { counted(), on_join(message); },
          [this, counted](const join_ended& message) { counted(), on_joined(message); },
          [this, counted](const communicator_requested& message) {
            counted(), on_communicator(message);
          },
          [this, counted](const communicator_dropped& message) { counted(), on_dropped(message); },
          [this, counted](const lane_handed& message) { counted(), on_lane(message); },
          [this, counted](const peer_failed& message) { counted(), on_peer_failed(message); },
          [this, counted](const process_ended& message) { counted(), on_process_ended(message); },
          [this, counted](const link_spawned& message) { counted(), on_link_spawned(message); },
          [this, counted](const link_opened& message) { counted(), on_link_opened(message); },
          [this, counted](const link_closed& message) { counted(), on_link_closed(message); },
          [this, counted](const link_left& message) { counted(), on_link_left(message); },
          [this, counted](const shut_down& message) { counted(), on_shut_down(message); }};
}

void endpoint_actor_state::on_join(const join_requested& message) {
  join_answer_ = message.answer;
  context_->recorder.board.set_phase(endpoint_phase::joining);
  spawn_watchdog_child();
  for (std::uint8_t i = 0; i < tier_count; ++i)
    spawn_dqplb_child(tier{i});
  spawn_collector_child();
  context_->bootstrap = spawn_bootstrap(*context_, bootstrap_options_, entropy_);
  self_->monitor(context_->bootstrap);
  context_->send(context_->bootstrap, join_begin{});
}

void endpoint_actor_state::on_joined(const join_ended& message) {
  if (!join_answer_) return;
  const auto answer = std::exchange(join_answer_, nullptr);
  if (message.why) {
    auto& board = context_->recorder.board;
    board.set_phase(endpoint_phase::failed);
    board.note({incident_kind::join_failed, context_->now(), message.why->what.peer,
                message.why->code(), message.why->message});
    answer->answer(fail(*message.why));
    context_->recorder.failed();
    return;
  }
  context_->recorder.board.set_phase(endpoint_phase::joined);
  if (const auto& invited = context_->identity.invited) {
    const auto alone = std::make_shared<const membership>(
        membership::of(std::vector<rank>{context_->identity.self}));
    seat({.id = invited->communicator,
          .self = rank{0},
          .members = alone,
          .tolerant = true,
          .answer = nullptr},
         coming_in{invited->token, invited->contact, answer});
    return;
  }
  const auto members =
      std::make_shared<const membership>(membership::world(context_->identity.world_size));
  answer->answer(seat({.id = world_communicator,
                       .self = context_->identity.self,
                       .members = members,
                       .tolerant = context_->options.fault_tolerance.world_continues(),
                       .answer = nullptr}));
}

communicator_seat endpoint_actor_state::seat(const communicator_requested& wanted,
                                             const std::optional<coming_in>& coming) {
  communicator_seat out{.id = wanted.id, .tolerant = wanted.tolerant};
  std::vector<std::uint32_t> names;
  for (std::uint32_t r = 0; wanted.tolerant && r < wanted.members->size(); ++r)
    names.push_back(r);
  out.first = std::make_shared<const seated_epoch>(
      seated_epoch{epoch{0}, wanted.self, wanted.members, std::move(names), {1}});
  out.board = std::make_shared<epoch_board>(out.first);
  out.progress = std::make_shared<communicator_progress>(wanted.id, wanted.self, wanted.members);
  context_->recorder.board.add(out.progress);
  out.member = spawn_rank(*context_, out, coming);
  self_->monitor(out.member);
  context_->ranks[wanted.id.value] = out.member;
  // Deaths that were seen before this communicator existed concern it as well.
  for (const auto peer : ended_)
    context_->send(out.member, exit_seen{peer});
  for (const auto& [peer, why] : context_->dead)
    if (wanted.members->from_world(peer)) context_->send(out.member, peer_ended{peer, why});
  return out;
}

void endpoint_actor_state::on_communicator(const communicator_requested& message) {
  message.answer->answer(seat(message));
}

void endpoint_actor_state::on_dropped(const communicator_dropped& message) {
  context_->forget_lanes(message.id);
  context_->windows.close_all(message.id);
  context_->recorder.board.remove(message.id);
  const auto found = context_->ranks.find(message.id.value);
  if (found == context_->ranks.end()) return;
  self_->demonitor(found->second.address());
  stop_actor(found->second);
  context_->ranks.erase(found);
}

void endpoint_actor_state::on_lane(const lane_handed& message) {
  context_->send(context_->link_to(message.peer), lane_given{message.connection, message.lane});
}

void endpoint_actor_state::on_peer_failed(const peer_failed& message) {
  note_dead(message.peer, message.why);
  const auto link = context_->links.find(message.peer.value);
  if (link != context_->links.end()) context_->send(link->second, link_doomed{message.why});
  for (const auto& [id, member] : context_->ranks)
    context_->send(member, peer_ended{message.peer, message.why});
}

void endpoint_actor_state::on_link_spawned(const link_spawned& message) {
  const auto found = context_->links.find(message.peer.value);
  if (found != context_->links.end()) self_->monitor(found->second);
}

void endpoint_actor_state::on_process_ended(const process_ended& message) {
  if (!ended_.insert(message.peer).second) return;
  for (const auto& [id, member] : context_->ranks)
    context_->send(member, exit_seen{message.peer});
}

void endpoint_actor_state::on_link_opened(const link_opened& message) {
  // It was only silent.
  context_->dead.erase(message.peer);
  if (context_->identity.invited) introduce(message.peer);
  for (const auto& [id, member] : context_->ranks)
    context_->send(member, peer_connected{message.peer});
}

/// Nobody else tells the others where a newcomer is; and it knows nobody but its contact.
void endpoint_actor_state::introduce(rank peer) {
  const auto& invited = *context_->identity.invited;
  const net::address_list list{
      .wants_book = peer == invited.contact,
      .entries = {
          {context_->identity.self, {context_->network.address(), bootstrap_options_.place}}}};
  context_->send(context_->link_to(peer),
                 frame_request{std::make_shared<std::vector<std::byte>>(net::encode(list))});
}

void endpoint_actor_state::on_link_closed(const link_closed& message) {
  forget_link(message.peer);
  if (message.orderly) {
    // It said good-bye: its members decide nothing any more.
    if (!context_->leaving) on_process_ended(process_ended{message.peer});
    return;
  }
  note_dead(message.peer, message.why);
  for (const auto& [id, member] : context_->ranks)
    context_->send(member, peer_ended{message.peer, message.why});
}

void endpoint_actor_state::note_dead(rank peer, const std::shared_ptr<const failure>& why) {
  if (context_->exits) context_->exits->look_for_missing(context_->now());
  if (!context_->dead.emplace(peer, why).second) return;
  context_->recorder.board.note(
      {incident_kind::peer_lost, context_->now(), peer, why->code(), why->message});
}

void endpoint_actor_state::forget_link(rank peer) {
  const auto found = context_->links.find(peer.value);
  if (found == context_->links.end()) return;
  self_->demonitor(found->second.address());
  stop_actor(found->second);
  context_->links.erase(found);
  // The place of a newcomer may have become known after its link was made: whichever tier lent to
  // it.
  for (const auto& budget : context_->dqplb)
    context_->send(budget, lease_holder_gone{peer});
  context_->send(context_->bootstrap, link_forgotten{peer});
  end_transfers(peer);
  leaving_links_.erase(peer);
  if (shut_down_answer_ && leaving_links_.empty()) finish_shut_down();
}

/// A link that failed as an actor reported nothing: what it had ends here, its lanes are closed.
/// After an orderly end this finds nothing open.
void endpoint_actor_state::end_transfers(rank peer) {
  auto& entries = context_->operations.entries();
  for (std::uint16_t i = 0; i < entries.size(); ++i) {
    const auto& entry = entries[i];
    if (!entry.live || entry.ended) continue;
    const operation_slot slot{i, entry.generation};
    for (const auto& transfer : entry.open)
      if (transfer.peer == peer)
        context_->send(
            entry.runner,
            transfer_ended{
                slot, peer, transfer.step, transfer.is_put, error{errc::peer_lost, 0, peer}, {}});
    if (entry.stopping && entry.runner) context_->send(entry.runner, cancel_ended{slot, peer});
  }
}

void endpoint_actor_state::on_link_left(const link_left& message) {
  leaving_links_.erase(message.peer);
  if (shut_down_answer_ && leaving_links_.empty()) finish_shut_down();
}

void endpoint_actor_state::on_shut_down(const shut_down& message) {
  shut_down_answer_ = message.answer;
  context_->leaving = true;
  context_->recorder.board.set_phase(endpoint_phase::leaving);
  context_->send(context_->bootstrap, bootstrap_leave{});
  for (const auto& [peer, link] : context_->links) {
    leaving_links_.insert(rank{peer});
    context_->send(link, leave_request{});
  }
  if (leaving_links_.empty()) {
    finish_shut_down();
    return;
  }
  context_->timers.arm(leave_timer_, saturating_add(context_->now(), leave_patience), 0);
}

void endpoint_actor_state::on_timer(std::uint64_t) {
  if (shut_down_answer_) finish_shut_down();
}

void endpoint_actor_state::finish_shut_down() {
  const auto answer = std::exchange(shut_down_answer_, nullptr);
  context_->recorder.board.set_phase(endpoint_phase::left);
  for (const auto& [id, member] : context_->ranks)
    stop_actor(member);
  for (const auto& [peer, link] : context_->links)
    stop_actor(link);
  for (auto& entry : context_->operations.entries())
    if (entry.live && entry.runner) stop_actor(entry.runner);
  stop_actor(context_->bootstrap);
  for (auto& budget : context_->dqplb)
    stop_actor(budget);
  stop_actor(watchdog_);
  stop_actor(collector_);
  context_->home.remove(context_->router);
  context_->home.remove(context_->mover);
  context_->home.remove(context_->timers);
  if (context_->exits) context_->home.remove(*context_->exits);
  context_->ranks.clear();
  context_->links.clear();
  context_->bootstrap = nullptr;
  for (auto& budget : context_->dqplb)
    budget = nullptr;
  context_->endpoint = nullptr;
  watchdog_ = nullptr;
  collector_ = nullptr;
  self_->quit();
  answer->answer(done_value{});
}

void endpoint_actor_state::spawn_watchdog_child() {
  watchdog_ = spawn_watchdog(*context_);
  self_->monitor(watchdog_);
}

void endpoint_actor_state::spawn_dqplb_child(tier which) {
  auto& child = context_->dqplb[static_cast<std::size_t>(which)];
  child = spawn_dqplb(*context_, which);
  self_->monitor(child);
}

void endpoint_actor_state::spawn_collector_child() {
  collector_ = spawn_collector(*context_);
  self_->monitor(collector_);
}

void endpoint_actor_state::on_down(const caf::down_msg& message) {
  auto& counters = context_->home.counters();
  if (watchdog_.address() == message.source) {
    counters.restarted(actor_kind::watchdog);
    spawn_watchdog_child();
    return;
  }
  if (collector_.address() == message.source) {
    counters.restarted(actor_kind::collector);
    spawn_collector_child();
    return;
  }
  for (std::uint8_t i = 0; i < tier_count; ++i) {
    if (context_->dqplb[i].address() != message.source) continue;
    counters.restarted(actor_kind::dqplb);
    spawn_dqplb_child(tier{i});
    return;
  }
  for (const auto& [peer, link] : context_->links) {
    if (link.address() != message.source) continue;
    on_link_closed({rank{peer}, false,
                    std::make_shared<const failure>(
                        error{errc::internal_failure, 0, rank{peer}},
                        "the actor of the link to " + context_->describe(rank{peer}) + " failed")});
    return;
  }
  if (context_->bootstrap.address() == message.source) {
    const auto why =
        std::make_shared<const failure>(errc::internal_failure, "the bootstrap actor failed");
    on_joined({why});
    for (const auto& [id, member] : context_->ranks)
      context_->send(member, failure_noticed{context_->identity.self, std::nullopt, why});
  }
}

endpoint_actor spawn_endpoint(endpoint_context& context, net::bootstrap_options bootstrap,
                              const std::array<std::byte, 32>& entropy) {
  return spawn_actor<endpoint_actor, endpoint_actor_state>(context, std::move(bootstrap), entropy);
}

}  // namespace troupe::actors
