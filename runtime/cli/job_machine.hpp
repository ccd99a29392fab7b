#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "runtime/cli/process_end.hpp"
#include "runtime/instant.hpp"
#include "runtime/strong_types.hpp"

namespace troupe::cli {

/// Limits of one launched job.
struct job_limits {
  duration timeout{};                        ///< whole job; zero: none
  duration grace = std::chrono::seconds(5);  ///< between failure, SIGTERM and SIGKILL
  duration reap = std::chrono::seconds(10);  ///< for the kernel to end what got SIGKILL
  bool keep_going = false;                   ///< a rank that fails does not end the job
};

/// A rank's process is gone.
struct rank_ended {
  rank who;
  pid_t pid = 0;
  process_end end;
};

/// The program could not be started at all; `cause` is errno. The rank's end follows.
struct program_refused {
  rank who;
  std::string program;
  int cause = 0;
};

/// The launcher itself got a signal.
struct signal_received {
  int number = 0;
};

/// Nothing happened but time.
struct time_passed {};

using job_event = std::variant<rank_ended, program_refused, signal_received, time_passed>;

/// Send a signal to the process group of every rank that still runs.
struct signal_ranks {
  int number = 0;
};

/// Tell the user: one line without "troupe: ".
struct report_line {
  std::string text;
};

/// The job is over; nothing comes after this effect.
struct finish_job {
  int exit_code = 0;
};

using job_effect = std::variant<signal_ranks, report_line, finish_job>;

/// How far the end of a job has come.
enum class job_phase : std::uint8_t {
  running,
  grace,        ///< something failed or a signal was passed on: ranks may end on their own
  terminating,  ///< SIGTERM was sent
  killing,      ///< SIGKILL was sent
  over,
};

/// Supervision of one job: who runs, who failed first, what is done about the others and when.
/// Holds no process and reads no clock.
struct job_state {
  job_limits limits;
  instant start{};
  job_phase phase = job_phase::running;
  instant deadline = never;  ///< of the phase
  std::vector<bool> running;
  std::uint32_t running_count = 0;

  bool has_failure = false;
  process_end first_failure{};
  bool timed_out = false;
  int ending_signal = 0;  ///< first terminating signal that came while the job ran; 0: none
  bool refused = false;   ///< the program could not be started: the error was already reported
  bool all_good = true;
  bool any_good = false;                      ///< a rank ended well
  std::vector<std::uint32_t> later_failures;  ///< on their own, after the first
  std::vector<std::uint32_t> ended_by_us;     ///< after SIGTERM or SIGKILL
};

/// A job of `rank_count` ranks that starts now.
job_state make_job(std::uint32_t rank_count, const job_limits& limits, instant now);

/// Total: every event is defined in every phase. Appends what is to be done to `out`.
void step(job_state& job, const job_event& event, instant now, std::vector<job_effect>& out);

}  // namespace troupe::cli
