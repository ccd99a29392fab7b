#include <cstdio>

#include "runtime/communicator.hpp"

int main() {
  auto world = troupe::join();  // who and where: from the launcher's environment
  if (!world) return std::fprintf(stderr, "%s\n", to_string(world.error()).c_str()), 1;

  float sum = static_cast<float>((*world)->rank().value);
  auto work = (*world)->all_reduce({.send = &sum, .receive = &sum, .count = 1});
  const auto done = work ? (*work)->wait() : troupe::fail(work.error());
  if (!done) return std::fprintf(stderr, "%s\n", to_string(done.error()).c_str()), 1;

  std::printf("rank %u of %u: the ranks add up to %g\n", (*world)->rank().value, (*world)->size(),
              static_cast<double>(sum));
}
