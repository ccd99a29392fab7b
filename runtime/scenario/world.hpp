#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/result.hpp"
#include "runtime/scenario/fault_plan.hpp"
#include "runtime/scenario/run_record.hpp"
#include "runtime/scenario/scenario.hpp"
#include "runtime/scenario/scenario_machine.hpp"

namespace troupe::scenario {

/// Where a script is played: ranks that do the work, and faults that befall them. Every rank joins,
/// asks for each step (`step_reached`), makes the step's calls one after the other once it may
/// begin, and asks for the next; a rank whose call failed makes no more and stays until the world
/// closes.
///
/// Thread: one.
class world {
 public:
  virtual ~world() = default;

  virtual instant now() const = 0;

  /// Waits until something happened or `until`, and appends what happened.
  virtual void wait(instant until, std::vector<conduct_event>& out) = 0;

  virtual void begin(std::uint32_t rank, std::uint32_t step) = 0;

  /// Errors: whatever keeps the world from doing it.
  virtual outcome<void> strike(std::uint32_t number, const scenario::strike& what) = 0;
  virtual void lift(std::uint32_t number, const scenario::strike& what) = 0;
  virtual void watch(std::uint32_t number, const scenario::strike& what) = 0;

  /// Lets everybody leave and adds to the record what only the world knows: footprints, metrics,
  /// trace hash.
  virtual void close(run_record& record) = 0;
};

/// Plays the script of `state` in a world and returns what happened.
run_record conduct(conduct_state& state, world& where);

/// A world of real actors on a simulated network (defined in actors/).
/// Errors: bad_configuration.
outcome<std::unique_ptr<world>> make_simulated_world(const script& of, std::uint64_t seed);

}  // namespace troupe::scenario
