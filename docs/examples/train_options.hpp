#pragma once

#include <tl/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace examples {

enum class live_line { when_terminal, always, never };

/// What the command line of `train_characters` says.
struct train_options {
  std::size_t steps = 360;
  std::size_t batch = 512;
  std::size_t context = 32;
  std::size_t width = 128;
  std::size_t seed = 1;
  std::size_t ranks = 4;   ///< with --single: the job to imitate
  std::size_t groups = 0;  ///< 0: two if there are at least four ranks, else one
  std::string data;
  std::string csv;
  live_line live = live_line::when_terminal;
  bool single = false;
  bool break_sync = false;
  bool quiet = false;
  bool help = false;
};

/// Errors are sentences that name the flag.
tl::expected<train_options, std::string> parse_options(std::span<const char* const> arguments);

/// How a world of `ranks` divides the work.
struct job_shape {
  std::uint32_t ranks = 1;
  std::uint32_t groups = 1;
  std::size_t rows_per_rank = 0;
};

/// Errors are sentences: groups must divide the ranks, ranks the batch.
tl::expected<job_shape, std::string> shape_job(const train_options& options, std::size_t ranks);

std::string usage();

}  // namespace examples
