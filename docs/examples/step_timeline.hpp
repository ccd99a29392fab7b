#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "runtime/work.hpp"

namespace examples {

using wall_clock = std::chrono::steady_clock;
using seconds = std::chrono::duration<double>;

/// What a rank can be doing. The first four are the trainer's own thread, the others are
/// operations in flight.
enum class activity { forward, backward, optimizer, wait, reduce_scatter, all_reduce, all_gather };

inline constexpr std::size_t communication_kinds = 3;

std::string_view to_string(activity what);

struct interval {
  activity what = activity::forward;
  std::size_t bucket = 0;
  wall_clock::time_point begin;  ///< of an operation: when its call returned
  wall_clock::time_point end;    ///< of an operation: when its work was done
};

/// One step, seen from one rank.
struct step_record {
  wall_clock::time_point begin;
  wall_clock::time_point end;
  std::vector<interval> intervals;
};

/// Where the time of many steps went.
struct time_totals {
  seconds elapsed{};  ///< from the begin of the first step to the end of the last
  seconds compute{};  ///< forward and backward
  seconds optimizer{};
  seconds exposed{};    ///< the trainer's thread waited for an operation
  seconds in_flight{};  ///< at least one operation was under way

  seconds hidden() const { return in_flight - exposed; }
};

/// Notes when operations are done, from a thread of its own: the trainer, busy with a layer, would
/// notice only after it.
class completion_watch {
 public:
  completion_watch();
  ~completion_watch();

  void add(interval started, troupe::work_handle work);

  /// Moves out what has been watched since the last call. Every work of it must be about to end.
  std::vector<interval> drain();

 private:
  struct watched {
    interval when;
    troupe::work_handle work;
  };

  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<watched> waiting_;
  std::vector<interval> done_;
  bool stopping_ = false;
  std::thread thread_;
};

/// Measures the steps of one trainer: what its thread does and what its communicators do.
/// Thread: the trainer's.
class step_timeline {
 public:
  /// While it lives, the trainer's thread does `what`.
  class scope {
   public:
    scope(step_timeline& timeline, activity what, std::size_t bucket);
    ~scope();
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;

   private:
    step_timeline* timeline_;
    interval when_;
  };

  void begin_step();
  void end_step();

  /// An operation has just been started.
  void started(activity what, std::size_t bucket, const troupe::work_handle& work);

  /// All operations of the step before this one are done: it can be added up. (Its last
  /// all_gathers run on into the next step.)
  void settle_previous_step();

  /// Steps that have been settled.
  const time_totals& totals() const { return totals_; }

  /// The last settled step.
  const step_record& latest() const { return latest_; }

 private:
  void settle(step_record& record);

  step_record current_;
  std::optional<step_record> previous_;
  step_record latest_;
  time_totals totals_;
  /// One for each communicator: a communicator's operations end in the order of their calls.
  std::array<completion_watch, communication_kinds> watches_;
};

}  // namespace examples
