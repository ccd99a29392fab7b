#include "runtime/cli/output_sink.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

namespace troupe::cli {
namespace {

bool ready_to_write(int number) {
  pollfd wanted{number, POLLOUT, 0};
  return ::poll(&wanted, 1, 0) == 1;
}

}  // namespace

output_sink::output_sink(int number) : number_(number), is_terminal_(::isatty(number) == 1) {}

void output_sink::append(std::string_view bytes) {
  if (!broken_) queue_ += bytes;
}

std::size_t output_sink::columns() const {
  winsize window{};
  if (::ioctl(number_, TIOCGWINSZ, &window) != 0 || window.ws_col == 0) return 80;
  return window.ws_col;
}

void output_sink::flush() {
  while (!drained() && ready_to_write(number_)) {
    const std::size_t bytes = std::min<std::size_t>(queue_.size() - written_, PIPE_BUF);
    const ssize_t taken = ::write(number_, queue_.data() + written_, bytes);
    if (taken >= 0) {
      written_ += static_cast<std::size_t>(taken);
    } else if (errno != EINTR) {
      broken_ = errno != EAGAIN;
      if (broken_) written_ = queue_.size();
      break;
    }
  }
  if (!drained()) return;
  queue_.clear();
  written_ = 0;
}

}  // namespace troupe::cli
