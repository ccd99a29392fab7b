#include "runtime/cli/exit_board.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace troupe::cli {

outcome<exit_board> exit_board::open(std::uint32_t rank_count) {
  exit_board made;
  made.file_ = descriptor(::memfd_create("troupe-exit-board", MFD_CLOEXEC));
  if (!made.file_ || ::ftruncate(made.file_.number(), rank_count) != 0)
    return fail(errc::resource_exhausted,
                std::string("the board of ended ranks: ") + std::strerror(errno));
  made.path_ = "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(made.file_.number());
  return made;
}

void exit_board::note(std::uint32_t rank) {
  const char ended = 1;
  // One byte of a file in memory, inside its length: nothing is left to go wrong.
  [[maybe_unused]] const auto written = ::pwrite(file_.number(), &ended, 1, rank);
}

}  // namespace troupe::cli
