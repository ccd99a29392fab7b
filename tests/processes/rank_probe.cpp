// A rank that does what its first argument says and prints one line about how it ended:
//   "ended <code> <milliseconds since it began> <message>"
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/communicator.hpp"

namespace {

using clock_type = std::chrono::steady_clock;

int report(const troupe::failure& f, clock_type::time_point began) {
  const auto spent =
      std::chrono::duration_cast<std::chrono::milliseconds>(clock_type::now() - began).count();
  std::printf("ended %s %ld %s\n", std::string(to_string(f.code())).c_str(),
              static_cast<long>(spent), f.message.c_str());
  std::fflush(stdout);
  return f.code() == troupe::errc::ok ? 0 : 3;
}

/// All-reduces of `count` floats until one fails or `seconds` passed.
troupe::failure loop(troupe::communicator& world, std::uint64_t count, long seconds) {
  std::vector<float> data(count, 1.0f), sum(count);
  const auto end = clock_type::now() + std::chrono::seconds(seconds);
  bool first = true;
  while (clock_type::now() < end) {
    const auto work =
        world.all_reduce({.send = data.data(), .receive = sum.data(), .count = count});
    if (!work) return work.error();
    const auto done = (*work)->wait();
    if (!done) return done.error();
    if (first) {
      std::printf("running %u %d\n", world.rank().value, static_cast<int>(::getpid()));
      std::fflush(stdout);
      first = false;
    }
  }
  return {};
}

bool was_told() {
  sigset_t told;
  ::sigpending(&told);
  return ::sigismember(&told, SIGUSR1) == 1;
}

/// All-reduces of `count` integers, every element checked, until `seconds` passed at rank 0 or it
/// got SIGUSR1, which all ranks learn by the operation itself. Prints how many there were in each
/// 100 ms.
troupe::failure checked(troupe::communicator& world, std::uint64_t count, long seconds) {
  using namespace std::chrono_literals;
  std::vector<std::int64_t> data(count), sum(count);
  const auto size = static_cast<std::int64_t>(world.size());
  const auto self = static_cast<std::int64_t>(world.rank().value);
  const auto began = clock_type::now();
  auto interval_end = began + 100ms;
  std::int64_t done_in_interval = 0;
  for (std::int64_t round = 0;; ++round) {
    const bool is_last =
        self == 0 && (was_told() || clock_type::now() - began >= std::chrono::seconds(seconds));
    for (std::uint64_t i = 1; i < count; ++i)
      data[i] = (round + 1) * (self + 1) + static_cast<std::int64_t>(i);
    data[0] = is_last ? 1 : 0;
    const auto work = world.all_reduce({.send = data.data(),
                                        .receive = sum.data(),
                                        .count = count,
                                        .type = troupe::data_type::int64});
    if (!work) return work.error();
    if (const auto done = (*work)->wait(); !done) return done.error();
    for (std::uint64_t i = 1; i < count; ++i)
      if (sum[i] != (round + 1) * size * (size + 1) / 2 + size * static_cast<std::int64_t>(i))
        return {{troupe::errc::internal_failure},
                "round " + std::to_string(round) + ": element " + std::to_string(i) + " is wrong"};
    ++done_in_interval;
    for (; clock_type::now() >= interval_end; interval_end += 100ms) {
      std::printf("done %ld\n", static_cast<long>(std::exchange(done_in_interval, 0)));
      std::fflush(stdout);
    }
    if (sum[0] != 0) return {};
  }
}

/// Aborts from a thread of its own when SIGUSR1 comes, while the loop has everything in flight. The
/// signal is blocked in all threads from the start.
int abort_when_told(troupe::communicator& world, std::uint64_t count) {
  troupe::failure end;
  std::thread running([&] { end = loop(world, count, 60); });
  sigset_t told;
  ::sigemptyset(&told);
  ::sigaddset(&told, SIGUSR1);
  int number = 0;
  ::sigwait(&told, &number);
  const auto began = clock_type::now();
  world.abort();
  running.join();
  return report(end, began);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "join";
  sigset_t told;
  ::sigemptyset(&told);
  ::sigaddset(&told, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &told, nullptr);
  ::alarm(120);  // whatever became of the test that started us
  const auto began = clock_type::now();
  auto world = troupe::join();
  if (!world) return report(world.error(), began);
  if (mode == "loop") {
    const auto count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1000;
    const auto seconds = argc > 3 ? std::strtol(argv[3], nullptr, 10) : 20;
    return report(loop(**world, count, seconds), began);
  }
  if (mode == "checked") {
    const auto count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1000;
    const auto seconds = argc > 3 ? std::strtol(argv[3], nullptr, 10) : 5;
    const auto end = checked(**world, count, seconds);
    if (end.code() != troupe::errc::ok) return report(end, began);
  }
  if (mode == "abort") {
    const auto count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1000;
    return abort_when_told(**world, count);
  }
  if (mode == "idle") {
    const auto work = (*world)->barrier();
    if (!work) return report(work.error(), began);
    if (const auto done = (*work)->wait(); !done) return report(done.error(), began);
    std::printf("running %u %d\n", (*world)->rank().value, static_cast<int>(::getpid()));
    std::fflush(stdout);
    ::sleep(argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 5);
  }
  const auto ended = (*world)->finalize(std::chrono::seconds(10));
  return report(ended ? troupe::failure{} : ended.error(), began);
}
