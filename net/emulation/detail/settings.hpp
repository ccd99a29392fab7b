#pragma once

#include <cstdint>
#include <string>

namespace troupe::net::emulation {

/// What the environment says. The stand-in lies under programs that know nothing of it, so this is
/// the one place it can be told anything at start (docs/emulation.md).
struct settings {
  std::string job;         ///< TROUPE_EMULATION_JOB: NICs of one job reach each other
  std::uint32_t host = 0;  ///< TROUPE_EMULATION_HOST: which emulated host this process is on
  std::uint32_t device_count = 2;  ///< TROUPE_EMULATION_DEVICES
};

/// The settings of this process, read once. A value that is wrong ends the process with a message
/// that names variable, value and limit.
const settings& process_settings();

}  // namespace troupe::net::emulation
