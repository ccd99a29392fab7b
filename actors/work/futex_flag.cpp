#include "actors/work/futex_flag.hpp"

#include <immintrin.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <ctime>

namespace troupe::actors {

namespace {

constexpr std::uint32_t up = 1;
constexpr std::uint32_t sleeping = 2;

// A sleeper looks at its deadline at least this often; bounds what a lost wake-up could cost.
constexpr duration longest_nap = std::chrono::seconds(1);

std::int64_t monotonic_ns() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1'000'000'000ll + t.tv_nsec;
}

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, duration nap) {
  const timespec limit{nap.count() / 1'000'000'000, nap.count() % 1'000'000'000};
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT_PRIVATE, expected,
            &limit, nullptr, 0);
}

}  // namespace

void futex_flag::raise() {
  const auto before = value_.exchange(up, std::memory_order_acq_rel);
  if (before & sleeping)
    ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&value_), FUTEX_WAKE_PRIVATE, INT_MAX,
              nullptr, nullptr, 0);
}

bool futex_flag::wait(duration limit, duration spin) const {
  const auto start = monotonic_ns();
  const auto deadline = limit.count() > INT64_MAX - start ? INT64_MAX : start + limit.count();
  for (unsigned round = 0;; ++round) {
    if (is_up()) return true;
    const auto now = monotonic_ns();
    if (now >= deadline) return false;
    if (now - start < spin.count()) {
      _mm_pause();
      continue;
    }
    auto seen = value_.load(std::memory_order_acquire);
    if (seen & up) return true;
    if (!(seen & sleeping) &&
        !value_.compare_exchange_strong(seen, seen | sleeping, std::memory_order_acq_rel))
      continue;
    futex_wait(value_, sleeping, std::min(duration(deadline - now), longest_nap));
  }
}

}  // namespace troupe::actors
