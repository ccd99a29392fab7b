#pragma once

#include <ctime>

#include <cstdint>

namespace troupe::net::emulation {

/// Nanoseconds of the host's monotonic clock: the same for every process of the host.
inline std::uint64_t now_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(time.tv_nsec);
}

/// A moment that does not come.
inline constexpr std::uint64_t never = ~std::uint64_t{0};

}  // namespace troupe::net::emulation
