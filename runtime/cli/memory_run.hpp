#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runtime/cli/memory_report.hpp"
#include "runtime/result.hpp"

namespace troupe::cli {

/// How a job is measured, as one of its ranks.
struct memory_run_options {
  std::string rows_file;  ///< rank 0 writes the cases there, as `memory_json`
  std::vector<std::pair<std::string, std::string>> settings;
};

/// Joins the job of the environment, samples itself, uses the ring, samples again. Rank 0 writes
/// the cases of the whole job. Returns the exit code.
/// Errors: those of joining and of the first call that failed, with the rank in the text.
outcome<int> run_memory_rank(const memory_run_options& options);

/// The same of a simulated job. Errors: those of `simulate`.
outcome<std::vector<memory_case>> simulate_memory(std::uint32_t rank_count);

}  // namespace troupe::cli
