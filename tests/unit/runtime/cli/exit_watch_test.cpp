#define BOOST_TEST_MODULE exit_watch
#include "runtime/cli/exit_watch.hpp"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <numeric>

#include "runtime/random.hpp"

using troupe::cli::descriptor;
using troupe::cli::exit_watch;

namespace {

/// A child that waits to be killed, and its pidfd.
struct waiting_child {
  pid_t pid = 0;
  descriptor ended;
};

waiting_child start_waiting_child() {
  waiting_child child;
  child.pid = ::fork();
  BOOST_REQUIRE(child.pid >= 0);
  if (child.pid == 0)
    while (true)
      ::pause();
  child.ended = descriptor(static_cast<int>(::syscall(SYS_pidfd_open, child.pid, 0)));
  BOOST_REQUIRE(child.ended);
  return child;
}

}  // namespace

BOOST_AUTO_TEST_CASE(children_that_ended_unwatched_come_out_in_the_order_in_which_they_ended) {
  exit_watch watch = exit_watch::open().value();
  std::vector<waiting_child> children;
  for (std::uint32_t i = 0; i < 40; ++i) {
    children.push_back(start_waiting_child());
    BOOST_REQUIRE(watch.add(children.back().ended.number(), i));
  }
  BOOST_CHECK(watch.take_ended().empty());

  std::vector<std::uint32_t> order(children.size());
  std::iota(order.begin(), order.end(), 0u);
  troupe::random_stream random(3);
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[random.below(i)]);
  for (const std::uint32_t who : order) {
    ::kill(children[who].pid, SIGKILL);
    siginfo_t info{};
    BOOST_REQUIRE(::waitid(P_PID, static_cast<id_t>(children[who].pid), &info, WEXITED | WNOWAIT) ==
                  0);
  }
  const auto ended = watch.take_ended();
  BOOST_CHECK_EQUAL_COLLECTIONS(ended.begin(), ended.end(), order.begin(), order.end());

  for (const waiting_child& child : children) {
    watch.remove(child.ended.number());
    ::waitpid(child.pid, nullptr, 0);
  }
  BOOST_CHECK(watch.take_ended().empty());
}
