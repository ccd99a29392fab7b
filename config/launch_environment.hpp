#pragma once

#include "config/load.hpp"
#include "config/text_forms.hpp"
#include "runtime/result.hpp"
#include "runtime/strong_types.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::config {

/// Whose environment told this process its place.
enum class launcher : std::uint8_t {
  none,  ///< nobody's: the caller gave rank, world size and rendezvous
  torchrun,
  open_mpi,
  slurm,
};

/// "torchrun", "Open MPI", "Slurm", "none".
std::string_view to_string(launcher l);

/// Port of the rendezvous under Slurm, which names a host but no port. Chosen: the port that
/// PyTorch users know. Two jobs that share their first host need MASTER_PORT.
inline constexpr std::uint16_t default_rendezvous_port = 29500;

/// Largest world. Chosen: far above the 100,000 ranks of the design, low enough to catch garbage.
inline constexpr std::uint32_t world_size_max = 1u << 20;

/// Who this process is in its job, and where the others are found.
struct launch_environment {
  launcher from = launcher::none;
  troupe::rank rank;
  std::uint32_t world_size = 1;
  std::optional<std::uint32_t> local_rank;  ///< among the ranks of this host, if known
  std::optional<std::uint32_t> local_size;  ///< ranks of this host, if known
  host_port rendezvous;                     ///< where rank 0 serves
  std::string job_id;                       ///< of the launcher, for logs; empty if it has none
};

/// What the caller knows better than any launcher.
struct launch_overrides {
  std::optional<std::uint32_t> rank{};
  std::optional<std::uint32_t> world_size{};
  std::optional<std::string> rendezvous{};  ///< "host:port"; also `bootstrap.rendezvous`
};

/// Finds rank, world size and rendezvous: overrides first, then torchrun's variables (RANK,
/// WORLD_SIZE), then Open MPI's, then Slurm's. One launcher answers for rank and size; a launcher
/// with half of its variables is an error, not a reason to ask the next.
/// Errors: bad_configuration; the message names the variables, their values and what to set.
outcome<launch_environment> find_launch_environment(const launch_overrides& overrides,
                                                    const environment_variables& variables);

}  // namespace troupe::config
