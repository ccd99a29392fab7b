#pragma once

#include <chrono>
#include <cstdint>

#include "runtime/instant.hpp"

namespace troupe::config::detail {

inline constexpr std::int64_t kib = 1ll << 10;
inline constexpr std::int64_t mib = 1ll << 20;
inline constexpr std::int64_t gib = 1ll << 30;
inline constexpr std::int64_t tib = 1ll << 40;

using std::chrono_literals::operator""us;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using std::chrono_literals::operator""min;
using std::chrono_literals::operator""h;

constexpr std::int64_t in_ns(duration d) {
  return d.count();
}

}  // namespace troupe::config::detail
