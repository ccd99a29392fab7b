#pragma once

#include <functional>
#include <memory>
#include <string>

#include "actors/worker/polling_coordinator.hpp"
#include "actors/worker/worker.hpp"
#include "runtime/result.hpp"

namespace troupe::actors {

/// The production worker: an actor system of its own with one `polling_coordinator` thread.
///
/// Destruction waits until every actor of the system ended; the owner stops them before.
class polling_worker final : public worker {
 public:
  explicit polling_worker(const polling_options& options);
  ~polling_worker() override;

  /// Keeps the worker's thread on these processors. Errors: as `bind_thread`.
  outcome<void> bind(const std::string& cpus);

  /// See `polling_coordinator::drive`.
  void drive(const std::function<bool()>& done, duration limit, const std::function<bool()>& more) {
    coordinator_->drive(done, limit, more);
  }

  /// See `polling_coordinator::start_now`.
  void start_now(const std::function<bool()>& more) { coordinator_->start_now(more); }

  instant now() const override { return coordinator_->now(); }
  instant recent() const override { return coordinator_->recent(); }
  caf::actor_system& system() override { return *system_; }
  caf::execution_unit* unit() override;
  void add(poller& p) override { coordinator_->add(p); }
  void remove(poller& p) override { coordinator_->remove(p); }
  void wake() override { coordinator_->wake(); }

 private:
  caf::actor_system_config config_;
  std::unique_ptr<caf::actor_system> system_;
  polling_coordinator* coordinator_ = nullptr;
};

}  // namespace troupe::actors
