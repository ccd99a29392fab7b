#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "actors/collector/metrics_exposer.hpp"
#include "actors/communicator/endpoint_door.hpp"
#include "actors/endpoint/endpoint_context.hpp"
#include "actors/endpoint/fork_guard.hpp"
#include "actors/reporter/reporter.hpp"
#include "actors/worker/polling_worker.hpp"
#include "config/load.hpp"
#include "runtime/communicator.hpp"

namespace troupe::actors {

/// An endpoint of this process: its worker, its network and its actors, from the first call of
/// `join` to the end of the last communicator on it.
///
/// Thread: any; the destructor waits for the worker, about a second at most.
class endpoint_host final : public endpoint_door {
 public:
  /// Loads the configuration, finds this rank's place and opens the network.
  /// Errors: bad_configuration, resource_exhausted, system_failure.
  static outcome<std::shared_ptr<endpoint_host>> open(const communicator_options& options);

  ~endpoint_host() override;

  /// Joins the job, at most `bootstrap.timeout`.
  outcome<communicator_seat> join();

  endpoint_actor actor() const override { return actor_; }
  const config::options& options() const override { return loaded_.values; }
  const operation_counters& operation_statistics() const override { return counters_; }
  bool forked() const override { return guard_.forked(); }
  const memory_ledger& ledger() const override { return *ledger_; }
  rank_dump dump() const override { return dump("call"); }
  const std::shared_ptr<shared_slab>& works() const override { return works_; }
  void drive_until(const std::function<bool()>& done, duration limit) override;
  void start_now() override;
  std::uint32_t next_communicator_id() override { return next_id_.load(); }
  void raise_next_communicator_id(std::uint32_t above) override;

  /// `cause`: why it is taken, see `rank_dump::cause`.
  rank_dump dump(std::string cause) const;

  const worker_counters& worker_statistics() const { return worker_->counters(); }

  /// Fault injection, see `endpoint_context::break_next`. Before the first operation.
  void break_next(actor_kind kind) { context_->break_next(kind); }

 private:
  endpoint_host(config::loaded_options loaded, endpoint_identity who);

  outcome<void> start();

  fork_guard guard_;
  config::loaded_options loaded_;
  endpoint_identity identity_;
  std::shared_ptr<memory_ledger> ledger_;  // dropped last by a work that outlives the endpoint
  std::shared_ptr<shared_slab> works_;
  buffer_table buffers_;
  operation_counters counters_;
  std::unique_ptr<lane_network> network_;
  std::unique_ptr<endpoint_context> context_;
  std::unique_ptr<polling_worker> worker_;
  endpoint_actor actor_;
  std::unique_ptr<metrics_exposer> exposer_;
  std::unique_ptr<reporter> reporter_;
  std::atomic<std::uint32_t> next_id_{2};
};

}  // namespace troupe::actors
