#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "runtime/instant.hpp"

namespace troupe::cli {

/// Exit codes of `troupe` itself, beside 128 + n for a signal and whatever a launched program
/// returns. The list that `docs/commands.md` documents.
enum class exit_code : int {
  success = 0,
  wrong_result = 1,  ///< data that should be equal is not
  usage = 2,         ///< the command line or the configuration is wrong; nothing was started
  failure = 3,       ///< the runtime could not do it; the error line says why
  crashed = 4,       ///< a rank of a scenario ended though nothing was to end it
  timed_out = 124,   ///< --timeout passed, as timeout(1)
};

/// How a process ended.
struct process_end {
  enum class kind : std::uint8_t { exited, killed };
  kind how = kind::exited;
  int number = 0;  ///< exit code, or number of the signal
  bool core_dumped = false;

  bool good() const { return how == kind::exited && number == 0; }
};

/// The code a shell would show: the exit code, or 128 + signal.
int shell_code(const process_end& end);

/// "exit code 3", "killed by SIGSEGV (core dumped)".
std::string describe(const process_end& end);

/// "SIGTERM"; "signal 64" for one without a name.
std::string signal_name(int number);

/// Ascending ranks as ranges: "0-3, 7"; at most eight ranges, then "and 12 more".
std::string describe_ranks(std::span<const std::uint32_t> ranks);

/// "1 rank", "3 ranks".
std::string count_ranks(std::size_t count);

/// "1.204 s"; whole seconds without a fraction: "5 s".
std::string describe_seconds(duration d);

}  // namespace troupe::cli
