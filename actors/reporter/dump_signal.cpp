#include "actors/reporter/dump_signal.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <utility>

namespace troupe::actors {

namespace {

// A signal belongs to the process: whom its handler wakes cannot hang from an endpoint. Endpoints
// of one process: one, but for tests that run a job in one.
constexpr std::size_t place_count = 256;
std::array<std::atomic<int>, place_count> descriptors;  // 0: free, else descriptor + 1
std::mutex installing;

static_assert(std::atomic<int>::is_always_lock_free, "the handler may interrupt a store");

void wake_all(int) {
  const int kept = errno;
  const std::uint64_t one = 1;
  for (const auto& place : descriptors)
    if (const int d = place.load(std::memory_order_relaxed); d != 0) [[maybe_unused]]
      const auto written = ::write(d - 1, &one, sizeof one);
  errno = kept;
}

/// False if the program handles the signal.
bool install(int number) {
  struct sigaction known {};
  ::sigaction(number, nullptr, &known);
  if (known.sa_handler == &wake_all) return true;
  if (known.sa_handler != SIG_DFL) return false;
  struct sigaction ours {};
  ours.sa_handler = &wake_all;
  ours.sa_flags = SA_RESTART;
  ::sigemptyset(&ours.sa_mask);
  return ::sigaction(number, &ours, nullptr) == 0;
}

}  // namespace

outcome<dump_signal> dump_signal::listen(std::string_view name, int wake_descriptor) {
  if (name == "none") return dump_signal();
  const std::lock_guard guard(installing);
  // It stays installed: a signal that comes late must not end the process.
  if (!install(name == "SIGUSR1" ? SIGUSR1 : SIGUSR2)) return dump_signal();
  for (std::size_t i = 0; i < place_count; ++i) {
    int free = 0;
    if (descriptors[i].compare_exchange_strong(free, wake_descriptor + 1))
      return dump_signal(static_cast<int>(i));
  }
  return fail(errc::resource_exhausted, "trace.dump_signal: " + std::to_string(place_count) +
                                            " endpoints of this process listen to it already");
}

dump_signal::~dump_signal() {
  if (place_ >= 0) descriptors[static_cast<std::size_t>(place_)].store(0);
}

dump_signal::dump_signal(dump_signal&& other) noexcept : place_(std::exchange(other.place_, -1)) {}

dump_signal& dump_signal::operator=(dump_signal&& other) noexcept {
  std::swap(place_, other.place_);
  return *this;
}

}  // namespace troupe::actors
