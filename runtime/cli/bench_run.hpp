#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/cli/bench_table.hpp"
#include "runtime/communicator.hpp"

namespace troupe::cli {

/// Which halves of the table are measured.
enum class bench_places : std::uint8_t { both, out_of_place, in_place };

/// Whether rank 0 draws a line that says how far the run has come, on standard error.
enum class progress : std::uint8_t { silent, shown };

/// What to measure.
struct bench_options {
  bench_heading heading;  ///< rank count and lanes are filled in after joining
  bench_places places = bench_places::both;
  progress shows = progress::silent;
  std::string json_file;  ///< empty: none
  std::string config_file;
  std::vector<std::pair<std::string, std::string>> settings;
  std::optional<algorithm> wanted_algorithm;
};

/// Joins the job of the environment as one of its ranks and measures. Rank 0 prints the table.
/// Returns exit_code::wrong_result if any element of any rank was wrong.
/// Errors: those of joining and of the first call that failed, with rank and call in the text.
outcome<int> run_bench_rank(const bench_options& options);

}  // namespace troupe::cli
