#pragma once

#include <string>
#include <vector>

#include "actors/endpoint/endpoint_context.hpp"
#include "actors/watchdog/watchdog_machine.hpp"
#include "actors/watchdog/watchdog_messages.hpp"

namespace troupe::actors {

/// Deadlines of every running operation, and the question whether ranks called different ones: the
/// shell around `watchdog_machine`. Reads the operation table on the worker's own thread, so an
/// operation costs it no message.
///
/// Messages handled: 1 each `watchdog.interval` while operations run.
class watchdog_actor_state : public timer_owner {
 public:
  watchdog_actor_state() {}
  ~watchdog_actor_state() override;

  static inline const char* name = "troupe.watchdog";

  void init(watchdog_actor::pointer self, endpoint_context& context);
  watchdog_actor::behavior_type make_behavior();

 private:
  void on_timer(std::uint64_t generation) override;
  void drive();
  void note(std::uint16_t slot, operation_entry& entry);
  void apply(const watchdog_verdict& verdict);
  void expire(std::uint32_t slot);
  failure verdict_on(const operation_entry& entry) const;
  std::string waiting_for(const operation_entry& entry) const;

  watchdog_actor::pointer self_ = nullptr;
  endpoint_context* context_ = nullptr;
  watchdog_state state_;
  watchdog_verdict verdict_;
  std::vector<watched_operation> seen_;
};

watchdog_actor spawn_watchdog(endpoint_context& context);

}  // namespace troupe::actors
