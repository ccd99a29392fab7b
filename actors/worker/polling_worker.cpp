#include "actors/worker/polling_worker.hpp"

#include "actors/worker/placement.hpp"

namespace troupe::actors {

polling_worker::polling_worker(const polling_options& options) {
  config_.set("scheduler.max-threads", 1u);
  config_.load<polling_coordinator>();
  system_ = std::make_unique<caf::actor_system>(config_);
  coordinator_ = &dynamic_cast<polling_coordinator&>(system_->scheduler());
  coordinator_->configure(options);
  coordinator_->set_counters(&counters());
}

polling_worker::~polling_worker() {
  system_.reset();
}

outcome<void> polling_worker::bind(const std::string& cpus) {
  return bind_thread(coordinator_->thread_handle(), cpus);
}

caf::execution_unit* polling_worker::unit() {
  return coordinator_->on_worker_thread() ? coordinator_->unit() : nullptr;
}

}  // namespace troupe::actors
