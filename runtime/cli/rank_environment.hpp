#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/load.hpp"
#include "runtime/result.hpp"

namespace troupe::cli {

/// One variable of a rank's environment.
struct variable {
  enum class rule : std::uint8_t { always, unless_set };
  std::string name;
  std::string value;
  rule when = rule::always;
};

/// What all ranks of one launched job share.
struct job_place {
  std::uint32_t rank_count = 1;
  std::string host = "127.0.0.1";  ///< MASTER_ADDR
  std::uint16_t port = 0;          ///< MASTER_PORT
  std::string config_file;         ///< TROUPE_CONFIG; empty: not set
  std::string secret;              ///< TROUPE_BOOTSTRAP_SECRET unless the caller has one
  std::string run_id;
};

/// The variables that tell one process of a job who it is: torchrun's names, so that any program
/// that runs under torchrun runs here, and Troupe's own two.
/// Source: PyTorch documentation, "torchrun (Elastic Launch)", environment variables.
std::vector<variable> rank_environment(const job_place& place, std::uint32_t rank);

/// `inherited` with `set` on top, as "NAME=value": what a rank's program gets.
std::vector<std::string> merge_environment(config::environment_variables inherited,
                                           const std::vector<variable>& set);

/// `byte_count` random bytes of the kernel, as hexadecimal text.
/// Errors: system_failure.
outcome<std::string> random_text(std::size_t byte_count);

}  // namespace troupe::cli
