#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "net/emulation/fault_command.hpp"
#include "net/emulation/network_model.hpp"

namespace troupe::net::emulation {

/// What the environment says. The stand-in lies under programs that know nothing of it, so this is
/// the one place it can be told anything at start (docs/emulation.md).
struct settings {
  std::string job;         ///< TROUPE_EMULATION_JOB: NICs of one job reach each other
  std::uint32_t host = 0;  ///< TROUPE_EMULATION_HOST: which emulated host this process is on
  std::uint32_t device_count = 2;     ///< TROUPE_EMULATION_DEVICES
  std::uint32_t seed = 1;             ///< TROUPE_EMULATION_SEED: of what faults draw
  network_model network;              ///< of the file that TROUPE_EMULATION_NETWORK names
  std::vector<fault_command> faults;  ///< TROUPE_EMULATION_FAULTS: from the start
  std::string rank;                   ///< RANK, if it is a number: how the control channel calls it
};

inline constexpr std::uint32_t device_count_max = 16;

/// The settings of this process, read once. A value that is wrong ends the process with a message
/// that names variable, value and limit.
const settings& process_settings();

}  // namespace troupe::net::emulation
