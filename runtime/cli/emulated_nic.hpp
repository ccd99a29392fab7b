#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/load.hpp"
#include "runtime/cli/rank_environment.hpp"
#include "runtime/result.hpp"

namespace troupe::cli {

/// Whether and how the ranks of a job get emulated RDMA cards (docs/emulation.md).
struct emulation_request {
  bool is_wanted = false;
  std::string network_file;      ///< TROUPE_EMULATION_NETWORK; empty: an ideal network
  std::uint32_t host_count = 1;  ///< emulated hosts, over which the ranks are spread in blocks
};

/// The directory of the library that is slid under the ranks: beside this program in a build or an
/// installation.
/// Errors: not_available, with the places that were looked at.
outcome<std::string> find_emulation_directory();

/// The variables that slide the emulated NIC under a rank. `directory` is where the library is,
/// `run_id` names the job unless the caller has a name for it.
std::vector<variable> emulation_environment(const emulation_request& request,
                                            const std::string& directory, const job_place& place,
                                            std::uint32_t rank,
                                            const config::environment_variables& inherited);

}  // namespace troupe::cli
