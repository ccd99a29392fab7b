#include "actors/dqplb/dqplb_actor.hpp"

#include "actors/endpoint/spawn_actor.hpp"

namespace troupe::actors {

namespace {

std::uint64_t cap_of(const config::dqplb_options& options, net::tier which) {
  switch (which) {
    case net::tier::same_rack: return options.same_rack_bytes;
    case net::tier::same_zone: return options.same_zone_bytes;
    case net::tier::cross_zone: return options.cross_zone_bytes;
    case net::tier::cross_data_center: return options.cross_data_center_bytes;
    case net::tier::unknown: return options.unknown_bytes;
  }
  return options.unknown_bytes;
}

}  // namespace

void dqplb_actor_state::init(dqplb_actor::pointer, endpoint_context& context, net::tier which) {
  context_ = &context;
  state_.cap_bytes = cap_of(context.options.dqplb, which);
  state_.lease_bytes = context.options.dqplb.lease_bytes;
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
  context_->counters.throttled_leases.set(state_.throttled_total);
}

void dqplb_actor_state::apply(const net::grant_lease& effect) {
  const auto found = context_->links.find(static_cast<std::uint32_t>(effect.link));
  if (found != context_->links.end()) context_->send(found->second, lease_granted{effect.bytes});
}

dqplb_actor spawn_dqplb(endpoint_context& context, net::tier which) {
  return spawn_actor<dqplb_actor, dqplb_actor_state>(context, which);
}

}  // namespace troupe::actors
