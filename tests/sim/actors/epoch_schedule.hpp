#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "runtime/random.hpp"
#include "tests/sim/actors/epoch_world.hpp"

namespace troupe::sim {

/// What faults hit, over many schedules.
struct fault_tally {
  std::array<std::array<std::uint64_t, fault_phase_count>, action_kind_count> fired{};
  std::uint64_t schedules = 0;
  std::uint64_t hit_an_operation = 0;  ///< schedules with a fault while an operation was under way
  std::uint64_t ok = 0, failed = 0, out = 0;  ///< how calls ended
  std::uint64_t epochs = 0;

  void add(const fault_tally& other);
};

struct schedule_outcome {
  std::string violation;  ///< empty if everything held
  std::uint64_t trace = 0;
  fault_tally tally;
};

/// One random run: world, faults and the order of everything are drawn from the seed. `bug` is
/// planted in it.
schedule_outcome run_schedule(std::uint64_t seed, planted_bug bug = planted_bug::none);

}  // namespace troupe::sim
