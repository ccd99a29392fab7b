#pragma once

#include <cstddef>
#include <span>

#include "runtime/result.hpp"

namespace troupe::kernels {

/// How the members of a domain tell each other what they need before they share memory. Whoever
/// forms a domain brings one: `kernels/` has no network.
class meeting {
 public:
  virtual ~meeting() = default;

  /// Hands in `mine` and gets what every member handed in, by rank: all.size() is mine.size() times
  /// the number of members, which all hand in as many bytes. Waits for all of them; each wait has a
  /// deadline.
  /// Errors: timed_out, peer_lost.
  virtual outcome<void> all_gather(std::span<const std::byte> mine, std::span<std::byte> all) = 0;
};

}  // namespace troupe::kernels
