#include "actors/collector/collector_actor.hpp"

#include "actors/endpoint/spawn_actor.hpp"

namespace troupe::actors {

namespace {

// Chosen: scrapes come every 5 to 60 s; a gauge that is a second old is current.
constexpr duration sample_interval = std::chrono::seconds(1);

}  // namespace

void collector_actor_state::init(collector_actor::pointer self, endpoint_context& context) {
  self_ = self;
  context_ = &context;
  timer_ = context.timers.create(*this);
  if (!context.options.metrics.listen.empty()) on_timer(0);
}

collector_actor_state::~collector_actor_state() {
  if (context_ != nullptr) context_->timers.destroy(timer_);
}

collector_actor::behavior_type collector_actor_state::make_behavior() {
  return {[this](const collector_sample&) {
    context_->on_message(actor_kind::collector, self_->mailbox().size());
    sample();
    context_->timers.arm(timer_, saturating_add(context_->now(), sample_interval), 0);
  }};
}

void collector_actor_state::on_timer(std::uint64_t) {
  context_->send(collector_actor{self_}, collector_sample{});
}

void collector_actor_state::sample() {
  auto& out = context_->counters;
  out.operations_running.set(context_->operations.live_count());
  out.links_known.set(context_->links.size());
  out.communicators.set(context_->ranks.size());
  out.scratch_bytes_taken.set(context_->scratch.taken_bytes());
  out.scratch_bytes_kept.set(context_->scratch.kept_bytes());
  out.control_bytes_used.set(context_->control.used_bytes());
  out.control_bytes_peak.set(context_->control.peak_bytes());
  out.buffers_known.set(context_->buffers.live_buffers());
  out.regions_exposed.set(context_->buffers.live_exposures());
  out.connections_refused.set(context_->network.refused_total());
}

collector_actor spawn_collector(endpoint_context& context) {
  return spawn_actor<collector_actor, collector_actor_state>(context);
}

}  // namespace troupe::actors
