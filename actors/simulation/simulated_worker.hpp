#pragma once

#include <cstdint>
#include <vector>

#include "actors/worker/worker.hpp"
#include "net/fabric/fabric.hpp"

namespace troupe::actors {

/// The worker of one simulated endpoint: virtual time, polled by its stage.
class simulated_worker final : public worker {
 public:
  simulated_worker(caf::actor_system& system, const net::fabric& world, std::uint32_t number)
      : system_(system), world_(world), number_(number) {}

  instant now() const override { return world_.now(); }
  caf::actor_system& system() override { return system_; }
  caf::execution_unit* unit() override { return nullptr; }
  void add(poller& p) override;
  void remove(poller& p) override;
  void wake() override {}
  void on_message(actor_kind kind) override;

  /// Polls everything once.
  bool poll();
  instant next_deadline() const;

  /// True once after anything happened here: the stage looks at `next_deadline` again.
  bool take_touched();

  /// Where the trace of the whole stage is kept.
  void set_trace(std::uint64_t* hash) { trace_ = hash; }

  /// Something happened here that is no message and no poll.
  void touch() { touched_ = true; }

  /// A crashed endpoint is not polled any more, a paused one not until it goes on.
  bool crashed = false;
  bool paused = false;
  bool is_silent() const { return crashed || paused; }

 private:
  caf::actor_system& system_;
  const net::fabric& world_;
  std::uint32_t number_;
  std::vector<poller*> pollers_;
  std::size_t poller_index_ = 0;
  bool touched_ = true;
  std::uint64_t* trace_ = nullptr;
};

}  // namespace troupe::actors
