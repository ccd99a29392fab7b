#pragma once

#include <cstdint>

namespace troupe::config {

/// Bytes in flight per distance tier of an endpoint. Section [dqplb].
struct dqplb_options {
  std::uint64_t same_rack_bytes = 64ull << 20;
  std::uint64_t same_zone_bytes = 128ull << 20;
  std::uint64_t cross_zone_bytes = 256ull << 20;
  std::uint64_t cross_data_center_bytes = 512ull << 20;
  std::uint64_t unknown_bytes = 64ull << 20;  ///< peers whose place is not known
  std::uint64_t lease_bytes = 8ull << 20;     ///< granted to a link at a time
};

}  // namespace troupe::config
