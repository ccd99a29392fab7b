#pragma once

#include <cstdint>
#include <string>

#include "runtime/cli/bench_shape.hpp"
#include "runtime/cli/setting_options.hpp"
#include "runtime/result.hpp"

namespace troupe::cli {

/// What to measure, and where to write what follows from it.
struct tune_options {
  size_range sizes{.first_bytes = 1024, .last_bytes = 16ull << 20, .factor = 4};
  std::uint32_t iteration_count = 15;
  std::string output_file;  ///< of the fragment; empty: standard output, below the tables
  std::string config_file;
  setting_list settings;
};

/// Joins the job of the environment as one of its ranks, measures every algorithm of every tuned
/// operation, and lets rank 0 print and write what it chose. Algorithms take turns call by call, so
/// that what else the machine does hits all alike; times are medians.
/// Errors: those of joining, of the first call that failed, and of writing the file.
outcome<int> run_tune_rank(const tune_options& options);

}  // namespace troupe::cli
