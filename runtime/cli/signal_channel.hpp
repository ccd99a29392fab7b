#pragma once

#include <signal.h>

#include <vector>

#include "runtime/cli/descriptor.hpp"
#include "runtime/result.hpp"

namespace troupe::cli {

/// Signals as readable events while it lives: those a launcher passes on are blocked and come out
/// of `take`; SIGPIPE is ignored and SIGCHLD at its default, so that children can be waited for.
///
/// Thread: one per process, and the process's only thread.
class signal_channel {
 public:
  /// Errors: system_failure.
  static outcome<signal_channel> open();
  signal_channel(signal_channel&& other) noexcept;
  signal_channel& operator=(signal_channel&&) = delete;
  ~signal_channel();

  /// Signals that came since the last call. Never blocks.
  std::vector<int> take();

  /// Readable when `take` has something.
  int number() const { return source_.number(); }

  /// The mask that programs started now are to get.
  const sigset_t& previous_mask() const { return previous_mask_; }

 private:
  signal_channel() = default;

  descriptor source_;
  sigset_t previous_mask_{};
  struct sigaction previous_pipe_ {};
  struct sigaction previous_child_ {};
};

}  // namespace troupe::cli
