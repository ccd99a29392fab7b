#include "runtime/cli/signal_channel.hpp"

#include <sys/signalfd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace troupe::cli {

outcome<signal_channel> signal_channel::open() {
  sigset_t passed_on;
  sigemptyset(&passed_on);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2})
    sigaddset(&passed_on, number);

  signal_channel channel;
  channel.source_ = descriptor(::signalfd(-1, &passed_on, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!channel.source_)
    return fail(errc::system_failure, std::string("signalfd: ") + std::strerror(errno));
  ::sigprocmask(SIG_BLOCK, &passed_on, &channel.previous_mask_);
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &channel.previous_pipe_);
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &standard, &channel.previous_child_);
  return channel;
}

signal_channel::signal_channel(signal_channel&& other) noexcept
    : source_(std::move(other.source_)),
      previous_mask_(other.previous_mask_),
      previous_pipe_(other.previous_pipe_),
      previous_child_(other.previous_child_) {}

signal_channel::~signal_channel() {
  if (!source_) return;
  ::sigaction(SIGCHLD, &previous_child_, nullptr);
  ::sigaction(SIGPIPE, &previous_pipe_, nullptr);
  ::sigprocmask(SIG_SETMASK, &previous_mask_, nullptr);
}

std::vector<int> signal_channel::take() {
  std::vector<int> numbers;
  signalfd_siginfo info{};
  while (::read(source_.number(), &info, sizeof info) == sizeof info)
    numbers.push_back(static_cast<int>(info.ssi_signo));
  return numbers;
}

}  // namespace troupe::cli
