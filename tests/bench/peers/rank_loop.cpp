#include "tests/bench/peers/rank_loop.hpp"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <sstream>
#include <string_view>
#include <vector>

#include "tests/bench/peers/operation_data.hpp"

namespace troupe::peers {
namespace {

/// Chosen: enough for connections, page tables and caches to settle. A large call does that alone.
constexpr std::uint64_t warm_up_calls = 5;
constexpr std::uint64_t large_bytes = 16 * 1024 * 1024;
/// The driver's limit for calls of one timing.
constexpr std::uint64_t timed_calls_max = 1'000'000;

std::uint64_t now_ns() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(t.tv_nsec);
}

/// Lines to and from the driver.
class control_line {
 public:
  explicit control_line(const std::string& path) {
    descriptor_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    if (::connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      std::perror(("peers: connect to " + path).c_str());
      std::exit(3);
    }
  }
  ~control_line() { ::close(descriptor_); }
  control_line(const control_line&) = delete;
  control_line& operator=(const control_line&) = delete;

  /// False once the driver is gone.
  bool read(std::string& line) {
    for (;;) {
      if (const auto end = pending_.find('\n'); end != std::string::npos) {
        line = pending_.substr(0, end);
        pending_.erase(0, end + 1);
        return true;
      }
      char bytes[512];
      const ssize_t got = ::read(descriptor_, bytes, sizeof bytes);
      if (got <= 0) return false;
      pending_.append(bytes, static_cast<std::size_t>(got));
    }
  }

  bool write(std::string line) {
    std::replace(line.begin(), line.end(), '\n', ' ');
    line += '\n';
    return ::send(descriptor_, line.data(), line.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(line.size());
  }

 private:
  int descriptor_ = -1;
  std::string pending_;
};

class rank_server {
 public:
  explicit rank_server(measured_library& library) : library_(library) {}

  std::string answer(const std::string& line) {
    std::istringstream words(line);
    std::string verb, name;
    std::uint64_t number = 0;
    words >> verb;
    if (verb == "prepare" && words >> name >> number) return prepare(name, number);
    if (verb == "time" && words >> number) return time_calls(number);
    if (verb == "release") return release();
    return "failed the driver said: " + line;
  }

 private:
  std::string prepare(const std::string& name, std::uint64_t bytes) {
    release();
    const auto what = operation_named(name);
    if (!what) return "failed no operation " + name;
    const call_size size = size_of_call(*what, bytes, library_.size());
    send_ = std::make_unique<page_buffer>(size.send_count);
    receive_ = std::make_unique<page_buffer>(size.receive_count);
    call_ = {.what = *what,
             .count = size.count,
             .send = send_->elements(),
             .receive = receive_->elements()};
    fill(call_, library_.rank());
    if (!library_.prepare(call_) || !library_.call()) return "failed " + library_.reason();
    if (const auto wrong = find_wrong(call_, library_.result(), library_.rank(), library_.size()))
      return "wrong " + *wrong;
    if (!library_.barrier()) return "failed " + library_.reason();
    const std::uint64_t calls = bytes < large_bytes ? warm_up_calls : 1;
    const std::uint64_t start = now_ns();
    for (std::uint64_t i = 0; i < calls; ++i)
      if (!library_.call()) return "failed " + library_.reason();
    return "ready " + std::to_string((now_ns() - start) / calls);
  }

  std::string time_calls(std::uint64_t calls) {
    if (!send_ || calls == 0 || calls > timed_calls_max) return "failed to time: not prepared";
    spent_.resize(calls);
    std::fill(spent_.begin(), spent_.end(), 0);
    if (!library_.barrier()) return "failed " + library_.reason();
    const std::uint64_t start = now_ns();
    std::uint64_t before = start;
    for (std::uint64_t& spent : spent_) {
      if (!library_.call()) return "failed " + library_.reason();
      const std::uint64_t after = now_ns();
      spent = after - before;
      before = after;
    }
    const std::uint64_t total = before - start;
    const auto middle = spent_.begin() + static_cast<std::ptrdiff_t>(calls / 2);
    std::nth_element(spent_.begin(), middle, spent_.end());
    return "timed " + std::to_string(*middle) + " " + std::to_string(total);
  }

  std::string release() {
    library_.release();
    send_.reset();
    receive_.reset();
    return "released";
  }

  measured_library& library_;
  planned_call call_;
  std::unique_ptr<page_buffer> send_;
  std::unique_ptr<page_buffer> receive_;
  std::vector<std::uint64_t> spent_;
};

}  // namespace

driver_options driver_options_of(int argument_count, char** arguments) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  driver_options options;
  for (int i = 1; i + 1 < argument_count; ++i) {
    const std::string_view word = arguments[i];
    if (word == "--control") options.control_path = arguments[i + 1];
    if (word == "--deadline")
      options.deadline_s = static_cast<unsigned>(std::strtoul(arguments[i + 1], nullptr, 10));
  }
  if (options.control_path.empty() || options.deadline_s == 0) {
    std::fputs(
        "peers: --control PATH [--deadline SECONDS]: started by tests/bench/peers/peers.py\n",
        stderr);
    std::exit(2);
  }
  return options;
}

int serve(measured_library& library, const driver_options& options) {
  control_line control(options.control_path);
  rank_server server(library);
  control.write("hello " + std::to_string(library.rank()) + " " + std::to_string(::getpid()));
  std::string line;
  while (control.read(line)) {
    if (line == "quit") {
      ::alarm(options.deadline_s);
      server.answer("release");
      library.finish();
      return 0;
    }
    ::alarm(options.deadline_s);
    const std::string answer = server.answer(line);
    ::alarm(0);
    if (!control.write(answer)) break;
  }
  // Peers may be anywhere: no farewell that would wait for them.
  ::_exit(3);
}

}  // namespace troupe::peers
