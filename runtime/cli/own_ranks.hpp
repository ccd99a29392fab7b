#pragma once

#include "runtime/cli/launcher.hpp"
#include "runtime/cli/sub_command.hpp"
#include "runtime/result.hpp"

namespace troupe::cli {

/// A command that starts itself as the ranks of a job, or is one of them.
struct own_ranks {
  launch_options launch;  ///< `rank_count` 0: the user gave none
  bool is_rank = false;   ///< started by `launch_own_ranks`
  bool draws_progress = false;
};

/// -n, --timeout, and the words by which `launch_own_ranks` marks the processes it starts.
void add_own_ranks(CLI::App& command, own_ranks& request);

/// Whether this process is a rank of a job that somebody started, rather than the one who starts
/// it.
///
/// Errors: bad_configuration if neither -n nor the environment of a job is there, or if both are
///         and contradict each other.
outcome<bool> is_rank_of_a_job(const own_ranks& request);

/// Starts this program with the same words as every rank, and looks after them.
/// Returns the job's exit code. Errors: those of `launch`.
outcome<int> launch_own_ranks(own_ranks& request, const command_line& line);

}  // namespace troupe::cli
