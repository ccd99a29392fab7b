#include "actors/worker/drive_baton.hpp"

#include <immintrin.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>

namespace troupe::actors {

namespace {

// Naps of a worker that stands aside. They grow while guests come and go: each costs the guest a
// few microseconds of its processor, and there is nothing to do that a guest would not do or
// announce. The longest bounds how late the worker sees what only it looks for: heartbeats,
// silence, aborts.
constexpr duration shortest_nap = std::chrono::microseconds(200);
constexpr duration longest_nap = std::chrono::milliseconds(5);

constexpr unsigned spins_before_yield = 200;

}  // namespace

void drive_baton::take() {
  for (auto length = shortest_nap; guest_.load(std::memory_order_acquire) || !driving_.try_lock();
       length = std::min(length * 2, longest_nap))
    nap(length);
}

void drive_baton::nap(duration length) {
  const auto seen = wake_ups_.load(std::memory_order_acquire);
  napping_.store(true, std::memory_order_seq_cst);
  // Who left before it could see the nap did not end it: then do not begin it.
  if (guest_.load(std::memory_order_seq_cst)) {
    const timespec limit{length.count() / 1'000'000'000, length.count() % 1'000'000'000};
    ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&wake_ups_), FUTEX_WAIT_PRIVATE, seen,
              &limit, nullptr, 0);
  }
  napping_.store(false, std::memory_order_release);
}

bool drive_baton::enter(duration patience) {
  if (guest_.exchange(true, std::memory_order_acq_rel)) return false;
  visits_.fetch_add(1, std::memory_order_seq_cst);
  std::chrono::steady_clock::time_point end{};  // most guests find the place free: no clock
  for (unsigned tries = 0; !driving_.try_lock(); ++tries) {
    if (tries == 0) end = std::chrono::steady_clock::now() + patience;
    if (tries < spins_before_yield) {
      _mm_pause();
      continue;
    }
    ::sched_yield();
    if (tries % 64 == 0 && std::chrono::steady_clock::now() > end) {
      guest_.store(false, std::memory_order_release);
      return false;
    }
  }
  return true;
}

bool drive_baton::try_enter() {
  if (guest_.exchange(true, std::memory_order_acq_rel)) return false;
  visits_.fetch_add(1, std::memory_order_seq_cst);
  if (driving_.try_lock()) return true;
  guest_.store(false, std::memory_order_release);
  return false;
}

void drive_baton::leave(bool hurry) {
  driving_.unlock();
  guest_.store(false, std::memory_order_seq_cst);
  if (hurry) wake_worker();
}

void drive_baton::wake_worker() {
  if (!napping_.load(std::memory_order_seq_cst)) return;
  wake_ups_.fetch_add(1, std::memory_order_acq_rel);
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&wake_ups_), FUTEX_WAKE_PRIVATE, 1, nullptr,
            nullptr, 0);
}

}  // namespace troupe::actors
