#include "actors/bootstrap/bootstrap_actor.hpp"

#include <array>
#include <utility>

#include "actors/endpoint/spawn_actor.hpp"

namespace troupe::actors {

void bootstrap_actor_state::init(bootstrap_actor::pointer, endpoint_context& context,
                                 net::bootstrap_options options,
                                 const std::array<std::byte, 32>& entropy) {
  context_ = &context;
  entropy_ = entropy;
  state_ = std::make_unique<net::bootstrap_state>(std::move(options),
                                                  context.ledger.of(memory_purpose::address_book));
  held_ = {&context.ledger, memory_purpose::actors, sizeof *state_};
  timer_ = context.timers.create(*this);
  context.router.set_acceptor(this);
  context.book_owner = state_.get();
  take_notice();
}

bootstrap_actor_state::~bootstrap_actor_state() {
  if (context_ == nullptr) return;
  context_->router.set_acceptor(nullptr);
  context_->book_owner = nullptr;
  context_->timers.destroy(timer_);
  for (auto& [connection, l] : lanes_)
    l->close();
}

bootstrap_actor::behavior_type bootstrap_actor_state::make_behavior() {
  auto counted = [this] { context_->on_message(actor_kind::bootstrap); };
  return {[this, counted](const join_begin&) {
            counted();
            drive(net::join_started{entropy_, context_->network.address()});
          },
          [this, counted](const link_request& message) {
            counted();
            drive(net::link_wanted{message.peer});
          },
          [this, counted](const lane_request& message) {
            counted();
            drive(net::lane_wanted{message.peer, message.lane});
          },
          [this, counted](const link_forgotten& message) {
            counted();
            drive(net::link_dropped{message.peer});
          },
          [this, counted](const death_seen& message) {
            counted();
            drive(net::death_learned{message.peer});
          },
          [this, counted](const addresses_heard& message) { counted(), on_addresses(message); },
          [this, counted](const bootstrap_leave&) {
            counted();
            drive(net::leave_started{});
          }};
}

void bootstrap_actor_state::drive(const net::bootstrap_event& event) {
  // Applying an effect can end a connection whose event comes from within: each step has a list of
  // its own.
  net::bootstrap_effects effects;
  net::step(*state_, event, context_->now(), effects);
  context_->counters.bootstrap_messages_sent.set(state_->counters.messages_sent);
  for (const auto& effect : effects)
    apply(effect);
}

void bootstrap_actor_state::apply(const net::bootstrap_effect& effect) {
  std::visit([this](const auto& e) { apply_one(e); }, effect);
}

void bootstrap_actor_state::apply_one(const net::dial_connection& effect) {
  context_->network.dial_plain(effect.to, effect.connection, effect.deadline);
}

void bootstrap_actor_state::apply_one(const net::dial_lane& effect) {
  context_->network.dial(effect.to, effect.connection, effect.deadline);
}

void bootstrap_actor_state::apply_one(const net::send_on_connection& effect) {
  const auto found = lanes_.find(effect.connection);
  if (found == lanes_.end()) return;
  // `full` cannot happen within the machine's windows; a peer that makes it happen does not read.
  if (found->second->post_message(effect.bytes()) == post_status::full) drop(effect.connection);
}

void bootstrap_actor_state::apply_one(const net::close_connection& effect) {
  const auto found = lanes_.find(effect.connection);
  if (found == lanes_.end()) {
    context_->network.cancel_dial(effect.connection);
    return;
  }
  connections_.erase(found->second.get());
  found->second->close();
  context_->router.bury(std::move(found->second));
  lanes_.erase(found);
}

void bootstrap_actor_state::apply_one(const net::hand_over_lane& effect) {
  const auto found = lanes_.find(effect.connection);
  if (found == lanes_.end()) return;
  connections_.erase(found->second.get());
  lane_router::set_owner(*found->second, nullptr);
  context_->lane_shelf[effect.connection] = std::move(found->second);
  lanes_.erase(found);
  context_->send(context_->endpoint, lane_handed{effect.connection, effect.peer, effect.lane});
}

void bootstrap_actor_state::apply_one(const net::report_joined&) {
  context_->send(context_->endpoint, join_ended{});
}

void bootstrap_actor_state::apply_one(const net::report_join_failed& effect) {
  context_->send(context_->endpoint, join_ended{std::make_shared<const failure>(
                                         effect.cause, with_notice(effect.text))});
}

void bootstrap_actor_state::apply_one(const net::report_unreachable& effect) {
  error what = effect.cause;
  what.peer = effect.peer;
  context_->send(context_->endpoint, peer_failed{effect.peer, std::make_shared<const failure>(
                                                                  what, with_notice(effect.text))});
}

void bootstrap_actor_state::apply_one(const net::report_death& effect) {
  context_->send(context_->endpoint,
                 peer_failed{effect.dead, std::make_shared<const failure>(
                                              error{errc::peer_lost, 0, effect.dead},
                                              context_->describe(effect.dead) +
                                                  ": its process ended without leaving the job")});
}

void bootstrap_actor_state::apply_one(const net::count_stranger& effect) {
  context_->counters.strangers_refused.add(1);
  const auto found = lanes_.find(effect.connection);
  context_->strangers.refused(context_->identity.self,
                              found == lanes_.end() ? "closed" : found->second->describe(),
                              effect.reason, context_->now());
}

void bootstrap_actor_state::apply_one(const net::arm_bootstrap_timer& effect) {
  context_->timers.arm(timer_, effect.deadline, effect.generation);
}

void bootstrap_actor_state::on_lane_ready(lane& ready) {
  const auto found = connections_.find(&ready);
  if (found == connections_.end()) return;
  const auto connection = found->second;
  // One event at a time: the step it causes may hand the lane over, and what is left in it belongs
  // to the link.
  std::array<lane_event, 1> event;
  while (lanes_.contains(connection) && ready.poll(event) == 1) {
    if (event[0].what == lane_event::kind::message_arrived) {
      context_->counters.bootstrap_messages_received.add(1);
      drive(net::connection_message{connection, event[0].message});
    } else if (event[0].what == lane_event::kind::lane_lost) {
      const auto cause = event[0].cause;
      drop(connection);
      drive(net::connection_lost{connection, cause});
      return;
    }
  }
}

void bootstrap_actor_state::on_accepted(std::unique_ptr<lane> opened) {
  take_notice();
  context_->counters.bootstrap_connections_accepted.add(1);
  const auto connection = ++last_accepted_;
  keep(connection, std::move(opened));
  drive(net::connection_accepted{connection});
}

void bootstrap_actor_state::on_connected(std::uint64_t context, std::unique_ptr<lane> opened) {
  take_notice();
  why_refused_.clear();
  context_->counters.bootstrap_connections_dialled.add(1);
  keep(context, std::move(opened));
  drive(net::connection_opened{context});
}

void bootstrap_actor_state::on_dial_failed(std::uint64_t context, error cause) {
  // Not printed: the peer may be about to listen, and is asked again. If it never does, the failure
  // says it.
  if (auto said = context_->network.take_notice(); !said.empty()) why_refused_ = std::move(said);
  drive(net::connection_refused{context, cause});
}

void bootstrap_actor_state::on_timer(std::uint64_t generation) {
  drive(net::bootstrap_timer_fired{generation});
}

void bootstrap_actor_state::on_addresses(const addresses_heard& message) {
  auto list = net::decode_address_list(*message.frame);
  if (!list) {
    context_->counters.foreign_frames.add(1);
    return;
  }
  drive(net::addresses_learned{std::move(list->entries)});
  if (!list->wants_book) return;
  const auto known = std::make_shared<std::vector<std::byte>>(net::encode(net::known_to(*state_)));
  context_->send(context_->link_to(message.peer), frame_request{known});
}

void bootstrap_actor_state::keep(std::uint64_t connection, std::unique_ptr<lane> opened) {
  lane_router::set_owner(*opened, this);
  connections_[opened.get()] = connection;
  lanes_[connection] = std::move(opened);
}

void bootstrap_actor_state::drop(std::uint64_t connection) {
  const auto found = lanes_.find(connection);
  if (found == lanes_.end()) return;
  connections_.erase(found->second.get());
  context_->router.bury(std::move(found->second));
  lanes_.erase(found);
}

void bootstrap_actor_state::take_notice() {
  auto notice = context_->network.take_notice();
  if (notice.empty()) return;
  context_->counters.network_notices.add(1);
  // Every lane to one peer says the same.
  if (notice != last_notice_) context_->strangers.note(context_->identity.self, notice);
  last_notice_ = std::move(notice);
}

std::string bootstrap_actor_state::with_notice(const std::string& text) const {
  return why_refused_.empty() ? text : text + "; " + why_refused_;
}

bootstrap_actor spawn_bootstrap(endpoint_context& context, net::bootstrap_options options,
                                const std::array<std::byte, 32>& entropy) {
  return spawn_actor<bootstrap_actor, bootstrap_actor_state>(context, std::move(options), entropy);
}

}  // namespace troupe::actors
