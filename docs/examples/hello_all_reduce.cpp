// The smallest program on Troupe: every rank adds its number, every rank sees the sum.
//   troupe launch -n 4 -- hello_all_reduce
#include <iostream>

#include "runtime/communicator.hpp"

int main() {
  auto world = troupe::join();  // who and where: from the launcher's environment
  if (!world) return std::cerr << to_string(world.error()) << '\n', 3;

  float sum = static_cast<float>((*world)->rank().value);
  auto work = (*world)->all_reduce({.send = &sum, .receive = &sum, .count = 1});
  if (!work) return std::cerr << to_string(work.error()) << '\n', 3;  // never started

  if (auto done = (*work)->wait(); !done)  // never hangs: the operation has a deadline
    return std::cerr << to_string(done.error()) << '\n', 3;
  std::cout << "rank " << (*world)->rank().value << ": the sum is " << sum << '\n';
}
