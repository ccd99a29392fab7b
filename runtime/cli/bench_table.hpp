#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/cli/bench_shape.hpp"

namespace troupe::cli {

/// One half of a row: out of place or in place.
struct bench_measure {
  double time_us = 0;  ///< mean of the calls, averaged over ranks
  double p50_us = 0;   ///< median of the calls, each averaged over ranks
  double algbw_gbs = 0;
  double busbw_gbs = 0;
  std::optional<std::uint64_t> wrong;  ///< elements of all ranks; unset: not checked
  troupe::algorithm algorithm = troupe::algorithm::none;  ///< that the calls took
};

/// Bandwidths of a call that took `time_us` on average.
bench_measure measure_of(bench_kind kind, const bench_shape& shape, std::uint32_t rank_count,
                         double time_us);

/// One size.
struct bench_row {
  bench_shape shape;
  std::optional<bench_measure> out_of_place;
  std::optional<bench_measure> in_place;
};

/// What stands above the table and in every row of it.
struct bench_heading {
  bench_kind kind = bench_kind::all_reduce;
  data_type type = data_type::float32;
  reduction op = reduction::sum;
  std::uint32_t root = 0;
  std::uint32_t rank_count = 1;
  std::string lanes;
  size_range sizes;
  std::uint32_t warmup_count = 5;
  std::uint32_t iteration_count = 20;
  bool checks = true;
};

/// One process of the job.
struct bench_device {
  std::int32_t pid = 0;
  std::string host;
};

// The format of nccl-tests, so that what reads its output reads ours.

/// A number in `width` columns: two digits behind the point, fewer as the width runs out, then an
/// exponent.
std::string fit_number(double value, int width);

std::string table_heading(const bench_heading& heading, const std::vector<bench_device>& devices);
std::string table_row(const bench_heading& heading, const bench_row& row);

/// The last lines: values out of bounds, and the mean bus bandwidth of all halves of all rows.
std::string table_end(const bench_heading& heading, const std::vector<bench_row>& rows);

/// Rows with a wrong element, each half counted.
std::uint64_t out_of_bounds_count(const std::vector<bench_row>& rows);

/// The same rows for programs: an array with one object for each half of each row.
std::string table_json(const bench_heading& heading, const std::vector<bench_row>& rows);

}  // namespace troupe::cli
