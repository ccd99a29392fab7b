#include "runtime/cli/exit_watch.hpp"

#include <sys/epoll.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

namespace troupe::cli {

outcome<exit_watch> exit_watch::open() {
  exit_watch watch;
  watch.set_ = descriptor(::epoll_create1(EPOLL_CLOEXEC));
  if (!watch.set_)
    return fail(errc::resource_exhausted, std::string("epoll_create1: ") + std::strerror(errno));
  return watch;
}

outcome<void> exit_watch::add(int pidfd, std::uint32_t who) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u32 = who;
  if (::epoll_ctl(set_.number(), EPOLL_CTL_ADD, pidfd, &event) != 0)
    return fail(errc::resource_exhausted, std::string("epoll_ctl: ") + std::strerror(errno));
  return {};
}

std::vector<std::uint32_t> exit_watch::take_ended() {
  std::vector<std::uint32_t> ended;
  std::array<epoll_event, 64> events{};
  const int count = ::epoll_wait(set_.number(), events.data(), static_cast<int>(events.size()), 0);
  for (int i = 0; i < count; ++i)
    ended.push_back(events[static_cast<std::size_t>(i)].data.u32);
  return ended;
}

void exit_watch::remove(int pidfd) {
  ::epoll_ctl(set_.number(), EPOLL_CTL_DEL, pidfd, nullptr);
}

}  // namespace troupe::cli
