#pragma once

#include "actors/dqplb/dqplb_messages.hpp"
#include "actors/endpoint/endpoint_context.hpp"
#include "net/dqplb/tier_budget_machine.hpp"

namespace troupe::actors {

/// The in-flight budget of one distance tier: the shell around `net::tier_state`.
///
/// Messages handled: 2 a lease (asked, returned), so a constant for each `dqplb.lease_bytes` of
/// data; none for eager traffic.
class dqplb_actor_state {
 public:
  dqplb_actor_state() {}

  static inline const char* name = "troupe.dqplb";

  void init(dqplb_actor::pointer self, endpoint_context& context, tier which);
  dqplb_actor::behavior_type make_behavior();

 private:
  void drive(const net::tier_event& event);
  void apply(const net::grant_lease& effect);

  endpoint_context* context_ = nullptr;
  tier tier_ = tier::unknown;
  net::tier_state state_;
  net::tier_effects effects_;
};

dqplb_actor spawn_dqplb(endpoint_context& context, tier which);

}  // namespace troupe::actors
