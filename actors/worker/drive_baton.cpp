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

// First nap of a worker that stands aside: bounds how long work lies still after a guest left in no
// hurry. Longer ones follow while one guest stays, so that a long wait costs no processor time.
constexpr duration shortest_nap = std::chrono::microseconds(200);
constexpr duration longest_nap = std::chrono::milliseconds(5);

constexpr unsigned spins_before_yield = 200;

}  // namespace

void drive_baton::take() {
  duration length = shortest_nap;
  auto visit = visits_.load(std::memory_order_acquire);
  while (guest_.load(std::memory_order_acquire) || !driving_.try_lock()) {
    nap(length);
    const auto now_here = visits_.load(std::memory_order_acquire);
    length = now_here == visit ? std::min(length * 2, longest_nap) : shortest_nap;
    visit = now_here;
  }
}

void drive_baton::nap(duration length) {
  const auto seen = wake_ups_.load(std::memory_order_acquire);
  long_nap_.store(length > shortest_nap, std::memory_order_seq_cst);
  // A guest that left before it could see the long nap does not end it: then do not begin it.
  if (length > shortest_nap && !guest_.load(std::memory_order_seq_cst)) length = shortest_nap;
  const timespec limit{length.count() / 1'000'000'000, length.count() % 1'000'000'000};
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&wake_ups_), FUTEX_WAIT_PRIVATE, seen,
            &limit, nullptr, 0);
  long_nap_.store(false, std::memory_order_release);
}

bool drive_baton::enter(duration patience) {
  if (guest_.exchange(true, std::memory_order_acq_rel)) return false;
  visits_.fetch_add(1, std::memory_order_acq_rel);
  const auto end = std::chrono::steady_clock::now() + patience;
  for (unsigned tries = 0; !driving_.try_lock(); ++tries) {
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

void drive_baton::leave(bool hurry) {
  driving_.unlock();
  guest_.store(false, std::memory_order_seq_cst);
  if (!hurry && !long_nap_.load(std::memory_order_seq_cst)) return;
  wake_ups_.fetch_add(1, std::memory_order_acq_rel);
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&wake_ups_), FUTEX_WAKE_PRIVATE, 1, nullptr,
            nullptr, 0);
}

}  // namespace troupe::actors
