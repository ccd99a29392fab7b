#pragma once

#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/cli/descriptor.hpp"
#include "runtime/result.hpp"

namespace troupe::cli {

/// What a child writes to.
enum class stream_kind : std::uint8_t {
  pipe,
  terminal,  ///< a pseudo terminal, so that the program draws its live line
};

/// How to start one rank.
struct child_plan {
  std::vector<std::string> command;
  std::vector<std::string> environment;  ///< "NAME=value", all of it
  stream_kind out = stream_kind::pipe;
  stream_kind error = stream_kind::pipe;
  bool inherits_input = false;             ///< else standard input is /dev/null
  bool takes_commands = false;             ///< or a pipe, to which `child_process::in` leads
  winsize window{};                        ///< of pseudo terminals
  sigset_t signal_mask{};                  ///< of the program
  std::optional<rlimit> descriptor_limit;  ///< of the program, if not the launcher's
  int refusal_pipe = -1;  ///< gets one `exec_refusal` if the program cannot be started
  std::uint32_t rank = 0;
};

/// Written by a child whose program cannot be started, in one write.
struct exec_refusal {
  std::uint32_t rank = 0;
  std::int32_t cause = 0;  ///< errno of execvp
};

/// A started child: leader of a process group of its own, killed by the kernel if the launcher
/// dies.
struct child_process {
  pid_t pid = 0;
  descriptor ended;  ///< pidfd: readable once the child has ended
  descriptor in;     ///< if it takes commands
  descriptor out;
  descriptor error;
};

/// Starts a child. Errors: resource_exhausted, system_failure.
/// Thread: any, while the process has one thread: the child allocates between fork and exec.
outcome<child_process> start_child(const child_plan& plan);

}  // namespace troupe::cli
