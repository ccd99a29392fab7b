#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/simulation/simulated_stage.hpp"
#include "runtime/scenario/workload_caller.hpp"
#include "runtime/scenario/world.hpp"

namespace troupe::actors {

/// The world of a scenario on a `simulated_stage`. Everything that happens is drawn from the seed:
/// the same script and seed give the same events at the same virtual times.
///
/// Thread: one.
class simulated_world final : public scenario::world {
 public:
  simulated_world(const scenario::script& of, const stage_options& options);
  ~simulated_world() override;

  instant now() const override { return stage_->now(); }
  void wait(instant until, std::vector<scenario::conduct_event>& out) override;
  void begin(std::uint32_t rank, std::uint32_t step) override;
  outcome<void> strike(std::uint32_t number, const scenario::strike& what) override;
  void lift(std::uint32_t number, const scenario::strike& what) override;
  void watch(std::uint32_t number, const scenario::strike& what) override;
  void close(scenario::run_record& record) override;

 private:
  struct player {
    explicit player(const scenario::script& of) : calls(of.work, of.machines.ranks) {}
    scenario::workload_caller calls;
    work_handle work;
    std::uint32_t step = 0;
    std::size_t operation = 0;
    bool joined = false;
    bool gone = false;     ///< no call any more: its process ended, or a call failed
    bool stopped = false;  ///< calls that it would make wait until it goes on
    std::uint32_t held_step = 0;
    std::optional<scenario::footprint> before;
    std::vector<std::uint32_t> contributors;  ///< to the last result
  };
  struct watched {
    std::uint32_t number = 0;
    const scenario::strike* what = nullptr;
    bool happened = false;
  };

  void take_joins(std::vector<scenario::conduct_event>& out);
  void take_ends(std::vector<scenario::conduct_event>& out);
  void take_watched(std::vector<scenario::conduct_event>& out);
  void end_call(std::uint32_t r, std::vector<scenario::conduct_event>& out);
  void call(std::uint32_t r, std::vector<scenario::conduct_event>& out);
  bool see_watched();
  bool has_happened(const watched& each);
  const scenario::fault& fault_of(const scenario::strike& what) const;
  void end_process(std::uint32_t r, net::crash_kind how);
  bool is_link(const scenario::strike& what) const;
  net::fabric_faults frame_faults_like(const scenario::strike& what, std::uint32_t r) const;
  void set_frames(const scenario::strike& what, bool on);
  void set_partition(std::uint32_t number, const scenario::strike& what, bool on);
  void take_control_memory(std::uint32_t number, std::uint32_t r);
  void give_control_memory_back(std::uint32_t number);

  const scenario::script& of_;
  std::unique_ptr<simulated_stage> stage_;
  std::vector<player> players_;
  std::vector<watched> watched_;
  std::vector<const scenario::strike*> frame_strikes_;  ///< that last now
  std::vector<scenario::conduct_event> pending_;        ///< happened outside of `wait`
  /// Blocks of control memory that a strike holds: strike, slab, block.
  struct taken_block {
    std::uint32_t strike = 0;
    slab* from = nullptr;
    void* block = nullptr;
  };
  std::vector<taken_block> taken_;
  std::uint32_t joining_ = 0;
};

}  // namespace troupe::actors
