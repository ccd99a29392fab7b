#include "runtime/cli/child_process.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace troupe::cli {
namespace {

/// Both ends of what a child writes to.
struct channel {
  descriptor read_end;
  descriptor write_end;
};

tl::unexpected<failure> system_error(const char* what) {
  const int cause = errno;
  const bool exhausted = cause == EMFILE || cause == ENFILE || cause == EAGAIN || cause == ENOMEM;
  return fail(failure(error{exhausted ? errc::resource_exhausted : errc::system_failure, cause},
                      std::string(what) + ": " + std::strerror(cause)));
}

outcome<channel> open_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_error("cannot make a pipe for a rank");
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return channel{descriptor(ends[0]), descriptor(ends[1])};
}

outcome<channel> open_terminal(const winsize& window) {
  channel made;
  made.read_end = descriptor(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
  if (!made.read_end || ::grantpt(made.read_end.number()) != 0 ||
      ::unlockpt(made.read_end.number()) != 0)
    return system_error("cannot open a pseudo terminal for rank 0");
  std::array<char, 128> name{};
  if (::ptsname_r(made.read_end.number(), name.data(), name.size()) != 0)
    return system_error("cannot name a pseudo terminal for rank 0");
  made.write_end = descriptor(::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  termios settings{};
  if (!made.write_end || ::tcgetattr(made.write_end.number(), &settings) != 0)
    return system_error("cannot open a pseudo terminal for rank 0");
  ::cfmakeraw(&settings);  // bytes come through as they were written
  ::tcsetattr(made.write_end.number(), TCSANOW, &settings);
  ::ioctl(made.write_end.number(), TIOCSWINSZ, &window);
  return made;
}

outcome<channel> open_channel(stream_kind kind, const winsize& window) {
  return kind == stream_kind::pipe ? open_pipe() : open_terminal(window);
}

/// The words as exec wants them; they stay the property of `words`.
std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words)
    pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// Between fork and exec. Signals reach the program as they reached the launcher's parent: the
/// same mask, and SIGPIPE and SIGCHLD, whose dispositions the launcher changed, at their default.
[[noreturn]] void become_program(const child_plan& plan, pid_t launcher, const channel& in,
                                 const channel& out, const channel& error) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != launcher) ::_exit(128 + SIGKILL);  // it died before the line above
  if (plan.takes_commands) {
    ::dup2(in.read_end.number(), STDIN_FILENO);
  } else if (!plan.inherits_input) {
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::dup2(nothing, STDIN_FILENO);
  }
  ::dup2(out.write_end.number(), STDOUT_FILENO);
  ::dup2(error.write_end.number(), STDERR_FILENO);
  if (plan.descriptor_limit) ::setrlimit(RLIMIT_NOFILE, &*plan.descriptor_limit);
  std::signal(SIGPIPE, SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &plan.signal_mask, nullptr);

  const std::vector<char*> arguments = pointers_to(plan.command);
  const std::vector<char*> environment = pointers_to(plan.environment);
  ::execvpe(arguments[0], arguments.data(), environment.data());
  const exec_refusal refusal{plan.rank, errno};
  // A lost refusal is still a failed rank: the exit code below is the shell's for the same thing.
  [[maybe_unused]] const ssize_t written = ::write(plan.refusal_pipe, &refusal, sizeof refusal);
  ::_exit(refusal.cause == ENOENT ? 127 : 126);
}

}  // namespace

outcome<child_process> start_child(const child_plan& plan) {
  channel in;
  if (plan.takes_commands) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_error("cannot make a pipe for a rank");
    in = {descriptor(ends[0]), descriptor(ends[1])};
  }
  auto out = open_channel(plan.out, plan.window);
  if (!out) return fail(out.error());
  auto error = open_channel(plan.error, plan.window);
  if (!error) return fail(error.error());

  const pid_t launcher = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return system_error("cannot start a process (see ulimit -u)");
  if (pid == 0) become_program(plan, launcher, in, *out, *error);
  ::setpgid(pid, pid);  // here too: whoever comes first, the group exists before it is signalled

  child_process child;
  child.pid = pid;
  // glibc 2.36 declares pidfd_open without C linkage.
  child.ended = descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!child.ended) {
    auto cause = system_error("cannot watch a process (pidfd_open needs Linux 5.3)");
    ::kill(-pid, SIGKILL);
    siginfo_t gone{};
    ::waitid(P_PID, static_cast<id_t>(pid), &gone, WEXITED);
    return cause;
  }
  child.in = std::move(in.write_end);
  child.out = std::move(out->read_end);
  child.error = std::move(error->read_end);
  return child;
}

}  // namespace troupe::cli
