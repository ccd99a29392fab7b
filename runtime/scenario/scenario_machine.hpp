#pragma once

#include <cstdint>
#include <map>
#include <variant>
#include <vector>

#include "runtime/scenario/fault_plan.hpp"
#include "runtime/scenario/run_record.hpp"
#include "runtime/scenario/scenario.hpp"

namespace troupe::scenario {

// -- events ---------------------------------------------------------------------------------------

/// The world stands; ranks begin to join.
struct run_started {};
struct rank_joined {
  std::uint32_t rank = 0;
};
struct join_failed {
  std::uint32_t rank = 0;
  failure why;
};
/// The rank waits until it may begin this step; steps + 1: it has nothing more to do.
struct step_reached {
  std::uint32_t rank = 0;
  std::uint32_t step = 0;
};
struct call_made {
  std::uint32_t rank = 0;
};
struct call_ended {
  std::uint32_t rank = 0;
  failure why;                       ///< code ok: it went well
  std::uint64_t wrong_elements = 0;  ///< if it did
};
/// The rank's process is gone.
struct process_ended {
  std::uint32_t rank = 0;
  std::string how;  ///< "killed by SIGSEGV"
};
/// What the world was asked to watch happened.
struct watched_happened {
  std::uint32_t strike = 0;
};
/// The world could not do what a strike says.
struct strike_refused {
  std::uint32_t strike = 0;
  std::string why;
};
struct time_passed {};

using conduct_event =
    std::variant<run_started, rank_joined, join_failed, step_reached, call_made, call_ended,
                 process_ended, watched_happened, strike_refused, time_passed>;

// -- effects --------------------------------------------------------------------------------------

struct begin_step {
  std::uint32_t rank = 0;
  std::uint32_t step = 0;
};
struct do_strike {
  std::uint32_t strike = 0;
};
struct lift_strike {
  std::uint32_t strike = 0;
};
/// Tell when the phase or the segment of this strike comes.
struct watch_for {
  std::uint32_t strike = 0;
};
/// Every rank has ended, or time is up.
struct end_run {};

using conduct_effect = std::variant<begin_step, do_strike, lift_strike, watch_for, end_run>;

/// Conducts one run of a script: lets ranks begin their steps, strikes when it is time, and notes
/// what becomes of everybody. Worlds do what the effects say and tell what happens.
struct conduct_state {
  const script* of = nullptr;  ///< outlives the state
  fault_plan plan;
  run_record record;

  struct rank_progress {
    std::uint32_t step = 0;      ///< waits for, or is in
    bool begun = false;          ///< in it
    std::uint64_t started = 0;   ///< calls
    std::uint64_t finished = 0;  ///< calls, well or not
    bool idle = false;           ///< has nothing more to do
  };
  struct due_action {
    enum class kind : std::uint8_t { strike, lift, begin };
    kind what = kind::strike;
    std::uint32_t subject = 0;  ///< strike, or rank
  };
  std::vector<rank_progress> progress;
  std::multimap<instant, due_action> due;
  std::vector<bool> triggered;  ///< by strike: its moment came
  instant began{};
  instant limit = never;
  bool over = false;
};

conduct_state make_conduct_state(const script& of, std::uint64_t seed);

/// Total: events of ranks that ended, and of strikes that are over, change nothing.
/// Cost: O(strikes) an event.
void step(conduct_state& state, const conduct_event& event, instant now,
          std::vector<conduct_effect>& out);

/// When `time_passed` has something to do; `never` once the run is over.
instant next_deadline(const conduct_state& state);

}  // namespace troupe::scenario
