#pragma once

#include <cstdint>

namespace troupe::config {

/// How the budgets of distance tiers reach links. Section [dqplb].
struct dqplb_options {
  std::uint64_t lease_bytes = 8ull << 20;  ///< most that a link gets at a time
};

}  // namespace troupe::config
