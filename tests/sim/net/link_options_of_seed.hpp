#pragma once

#include <cstdint>

#include "net/link/link_options.hpp"
#include "runtime/random.hpp"

namespace troupe::sim {

/// How the simulated lanes of one seed behave, and what goes wrong on them.
struct trouble {
  duration delay_min = std::chrono::microseconds(1);
  duration delay_max = std::chrono::microseconds(50);
  duration slow_delay_max = std::chrono::milliseconds(2);
  std::uint32_t slow_one_in = 0;  ///< 0: never; of writes and messages
  std::uint32_t fault_count = 0;  ///< lane faults in the first part of the run
  bool breaks = false;            ///< a lane ends; what was on it landed or did not
  bool black_holes = false;       ///< a lane swallows everything and says nothing
  bool lost_completions = false;
  bool lost_writes = false;  ///< one write never lands, though its lane lives on
  bool one_sided_openings = false;
  bool early_reopenings = false;       ///< the new life begins before both ends saw the old one end
  std::uint32_t duplicate_one_in = 0;  ///< of events
  std::uint32_t late_timer_one_in = 0;
  bool crash = false;         ///< side 1 stops
  bool silent_crash = false;  ///< and its lanes say nothing
};

/// What the owners do.
struct workload {
  std::uint32_t transfer_count = 40;
  std::uint32_t operation_count = 6;
  std::uint64_t bytes_max = 2000;
  duration spread = std::chrono::milliseconds(5);  ///< requests begin within this time
  bool mismatches = false;
  bool cancels = false;
  bool epochs = false;
  bool puts_alone = false;  ///< some puts and accepts never meet their other side
  bool early_puts = false;  ///< accepts come late
  std::uint32_t notice_count = 0;
  std::uint64_t budget_bytes = 1 << 20;
};

struct seed_plan {
  net::link_options link;  ///< of both sides, without keys and rings
  trouble faults;
  workload work;
};

/// Everything that a seed decides before the run.
seed_plan plan_of(std::uint64_t seed);

}  // namespace troupe::sim
