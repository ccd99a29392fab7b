#include "actors/dqplb/dqplb_actor.hpp"

#include "actors/endpoint/spawn_actor.hpp"

namespace troupe::actors {

void dqplb_actor_state::init(dqplb_actor::pointer, endpoint_context& context, tier which) {
  context_ = &context;
  tier_ = which;
  const auto& limits = config::limits_of(context.options, which);
  state_.cap_bytes = config::most_bytes_of(limits);
  state_.lease_bytes = config::lease_bytes_of(context.options, which);
}

dqplb_actor::behavior_type dqplb_actor_state::make_behavior() {
  return {[this](const lease_request& message) {
            context_->on_message(actor_kind::dqplb);
            drive(net::lease_wanted{message.peer.value, message.bytes});
          },
          [this](const lease_return& message) {
            context_->on_message(actor_kind::dqplb);
            drive(net::lease_returned{message.peer.value, message.bytes});
          },
          [this](const lease_holder_gone& message) {
            context_->on_message(actor_kind::dqplb);
            drive(net::link_gone{message.peer.value});
          }};
}

void dqplb_actor_state::drive(const net::tier_event& event) {
  effects_.clear();
  net::step(state_, event, effects_);
  for (const auto& effect : effects_)
    apply(effect);
  auto& counters = context_->counters;
  counters.throttled_leases[static_cast<std::size_t>(tier_)].set(state_.throttled_total);
  counters.leased_bytes[static_cast<std::size_t>(tier_)].set(state_.held_bytes);
}

void dqplb_actor_state::apply(const net::grant_lease& effect) {
  const auto found = context_->links.find(static_cast<std::uint32_t>(effect.link));
  if (found != context_->links.end()) context_->send(found->second, lease_granted{effect.bytes});
}

dqplb_actor spawn_dqplb(endpoint_context& context, tier which) {
  return spawn_actor<dqplb_actor, dqplb_actor_state>(context, which);
}

}  // namespace troupe::actors
