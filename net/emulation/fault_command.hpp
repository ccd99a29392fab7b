#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/result.hpp"

namespace troupe::net::emulation {

/// What can be done to a device (docs/emulation.md).
enum class fault : std::uint8_t {
  down,                ///< the port loses its link
  up,                  ///< and gets it back
  delay,               ///< every message takes `amount` ns longer
  reorder,             ///< or up to so much, each its own: queue pairs overtake each other
  loss,                ///< `amount` parts per million of transmissions are lost
  duplicate,           ///< or sent twice
  lose_completions,    ///< the next `amount` send completions never come
  slow_registration,   ///< registering memory takes `amount` ns longer
  fail_registrations,  ///< the next `amount` registrations fail
  change_gid,          ///< the IPv4 GID becomes another
  break_qps,           ///< every queue pair that sends goes to the error state
  clear,               ///< no fault any more; the port is up
  status,              ///< only says how things stand
};

struct fault_command {
  fault what = fault::status;
  std::optional<std::uint32_t> device = std::nullopt;  ///< none: all
  std::uint64_t amount = 0;
  std::uint64_t after_ns = 0;  ///< from when it was given

  friend bool operator==(const fault_command&, const fault_command&) = default;
};

/// Reads commands that ';' or line ends part; a flap becomes its downs and ups.
/// Errors: bad_configuration, with the command and what may stand there.
outcome<std::vector<fault_command>> read_fault_commands(std::string_view text);

}  // namespace troupe::net::emulation
