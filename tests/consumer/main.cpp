// A program outside the tree: a job of one rank, one all-reduce, through the installed package.
#include <cstdio>

#include "runtime/communicator.hpp"

int main() {
  auto world = troupe::join({.rank = 0, .world_size = 1});
  if (!world) return std::fprintf(stderr, "%s\n", to_string(world.error()).c_str()), 1;

  int value = 42;
  auto work = (*world)->all_reduce(
      {.send = &value, .receive = &value, .count = 1, .type = troupe::data_type::int32});
  const auto done = work ? (*work)->wait() : troupe::fail(work.error());
  if (!done) return std::fprintf(stderr, "%s\n", to_string(done.error()).c_str()), 1;

  std::printf("one rank, sum %d\n", value);
  return value == 42 ? 0 : 1;
}
