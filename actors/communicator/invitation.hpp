#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/lane.hpp"
#include "runtime/result.hpp"
#include "runtime/strong_types.hpp"

namespace troupe::actors {

/// What lets one rank from outside into a running communicator, once.
struct invitation {
  std::uint64_t token = 0;  ///< the upper half is the newcomer's world rank
  rank contact;             ///< world rank of the member that gave it
  lane_address address{};   ///< where that member is reached
  communicator_id communicator;
  std::uint32_t world_size = 0;  ///< with which the job began
  std::uint64_t job = 0;
  std::uint64_t agreed = 0;  ///< digest of the options that have to be equal on all ranks

  rank newcomer() const { return rank{static_cast<std::uint32_t>(token >> 32)}; }

  friend bool operator==(const invitation&, const invitation&) = default;
};

/// "troupe-1:TOKEN:CONTACT:COMMUNICATOR:SIZE:JOB:AGREED@ADDRESS", numbers in hexadecimal. It lets
/// nobody in who does not know the job's secret.
std::string to_text(const invitation& one);

/// Errors: bad_configuration, and what is wrong.
outcome<invitation> parse_invitation(std::string_view text);

}  // namespace troupe::actors
