#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/cli/emulated_nic.hpp"
#include "runtime/cli/job_machine.hpp"
#include "runtime/cli/output_relay.hpp"
#include "runtime/result.hpp"

namespace troupe::cli {

/// One job on this host.
struct launch_options {
  std::vector<std::string> command;  ///< program and its arguments
  std::uint32_t rank_count = 1;
  std::string host = "127.0.0.1";  ///< where rank 0 is reached
  std::uint16_t port = 0;          ///< where rank 0 listens; 0: a free one
  std::string config_file;         ///< TROUPE_CONFIG of the ranks; empty: as inherited
  emulation_request emulation;
  job_limits limits;
  line_tags tags = line_tags::rank;
};

/// Most ranks of one job on one host. Chosen: three descriptors and one process each.
inline constexpr std::uint32_t launch_rank_count_max = 4096;

/// Starts `rank_count` processes of a program, relays their output, passes signals on, and ends
/// what is left when one fails. Returns the job's exit code: 0, that of the first rank that failed,
/// 124 after the timeout, 128 + n if signal n ended it.
///
/// When the call returns no rank runs any more, and nothing that a rank left in its process group.
/// Errors: bad_argument, resource_exhausted, system_failure, not_available (emulation that was not
///         built); nothing was left running.
/// Thread: the process's only one.
outcome<int> launch(const launch_options& options);

}  // namespace troupe::cli
