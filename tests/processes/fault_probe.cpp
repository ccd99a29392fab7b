// A rank of a job in which something goes wrong, for tests of what sees it. Arguments: what, and
// the rank that does it. After its errors it stays until standard input ends, so that it can be
// asked. Prints "running <rank> <pid>" before the trouble begins.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "runtime/communicator.hpp"

namespace {

using namespace std::chrono_literals;

void stay() {
  char ignored = 0;
  while (::read(STDIN_FILENO, &ignored, 1) > 0) {
  }
}

[[noreturn]] void give_up(const troupe::failure& f) {
  std::fprintf(stderr, "fault_probe: %s\n", to_string(f).c_str());
  stay();
  std::_Exit(3);
}

void all_reduce(troupe::communicator& c, std::uint64_t count = 1000) {
  std::vector<float> data(count, 1.0f), sum(count);
  const auto work = c.all_reduce({.send = data.data(), .receive = sum.data(), .count = count});
  if (!work) give_up(work.error());
  if (const auto done = (*work)->wait(); !done) give_up(done.error());
}

/// Operation after operation, until a failure or the end of the test.
[[noreturn]] void loop(troupe::communicator& world, std::chrono::milliseconds pause) {
  while (true) {
    if (pause != 0ms) std::this_thread::sleep_for(pause);
    all_reduce(world, 20'000);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string what = argv[1];
  ::alarm(120);  // whatever became of the test that started us
  auto world = troupe::join();
  if (!world) give_up(world.error());
  const bool victim = (*world)->rank().value == static_cast<unsigned>(std::atoi(argv[2]));
  auto other = (*world)->split({.colour = 0});
  if (!other) give_up(other.error());
  for (int i = 0; i < 3; ++i) {
    all_reduce(**world);
    all_reduce(**other);
  }
  std::printf("running %u %d\n", (*world)->rank().value, static_cast<int>(::getpid()));
  std::fflush(stdout);
  if (what == "loop") loop(**world, 0ms);
  if (what == "slow") loop(**world, victim ? 4ms : 0ms);
  if (what == "never_joined" && !victim) all_reduce(**world);
  if (what == "mismatch") all_reduce(**world, victim ? 1001 : 1000);
  if (what == "order") {
    all_reduce(victim ? **other : **world);
    all_reduce(victim ? **world : **other);
  }
  if (what == "no_send" && !victim) {
    float one = 0;
    const auto work =
        (*world)->receive({.buffer = &one,
                           .count = 1,
                           .peer = troupe::rank{static_cast<std::uint32_t>(std::atoi(argv[2]))}});
    if (!work) give_up(work.error());
    if (const auto done = (*work)->wait(); !done) give_up(done.error());
  }
  stay();  // "outside": nobody calls anything
  std::_Exit(0);
}
