#pragma once

#include "actors/collector/collector_messages.hpp"
#include "actors/endpoint/endpoint_context.hpp"

namespace troupe::actors {

/// Samples what only the worker's thread may look at (running operations, links, staging memory)
/// into counters that a scrape reads without waiting for the worker. Never on the path of an
/// operation; samples only while the endpoint serves metrics, so an endpoint that does not stays
/// asleep.
///
/// Messages handled: 1 a second while metrics are served.
class collector_actor_state : public timer_owner {
 public:
  collector_actor_state() {}
  ~collector_actor_state() override;

  static inline const char* name = "troupe.collector";

  void init(collector_actor::pointer self, endpoint_context& context);
  collector_actor::behavior_type make_behavior();

 private:
  void on_timer(std::uint64_t generation) override;
  void sample();

  collector_actor::pointer self_ = nullptr;
  endpoint_context* context_ = nullptr;
  timer_queue::timer_id timer_ = 0;
};

collector_actor spawn_collector(endpoint_context& context);

}  // namespace troupe::actors
