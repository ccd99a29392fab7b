#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/cli/bench_shape.hpp"
#include "runtime/cli/json_rows.hpp"
#include "runtime/operation.hpp"
#include "runtime/result.hpp"

namespace troupe::cli {

// The model T = Tc * steps + bytes / BW of docs/algorithms.md, and how its two numbers are found.

/// What a call costs in the units of the model.
struct cost_terms {
  double steps = 0;  ///< messages that follow one another at the busiest rank, its chunks apart
  double bytes = 0;  ///< bytes through the busiest rank, one direction
};

/// `bytes` is the size column. Errors: bad_argument if the algorithm is not one of the kind's.
outcome<cost_terms> terms_of(bench_kind kind, algorithm which, std::uint32_t rank_count,
                             double bytes);

/// One measured call.
struct cost_sample {
  std::string lanes;
  cost_terms terms;
  double time_us = 0;
};

/// Samples of rows of `troupe bench --json`, by their p50_us. Rows of one rank and rows whose
/// algorithm moves nothing have nothing to say and are left out.
/// Errors: bad_argument if a field is not there or unknown.
outcome<std::vector<cost_sample>> samples_of(const std::vector<json_row>& rows);

/// What the samples of one lane kind say.
struct cost_fit {
  std::string lanes;
  double step_us = 0;       ///< Tc
  double bytes_per_us = 0;  ///< BW, in bytes a microsecond = MB/s; infinite: no bytes had a cost
  std::size_t sample_count = 0;
  double rms_error = 0;      ///< root of the mean square of (model - measured) / measured
  double largest_error = 0;  ///< of these, the largest by amount
};

/// Least squares of the relative errors, so that 10 us and 10 ms weigh the same; neither number is
/// below zero. One entry for each lane kind, in the order of their names.
/// Errors: bad_argument if a lane kind has less than two samples, or all of one shape.
outcome<std::vector<cost_fit>> fit_costs(const std::vector<cost_sample>& samples);

/// What the model says, in microseconds.
double modelled_us(const cost_fit& fit, const cost_terms& terms);

/// One line a lane kind, for people, and an array of objects, for programs.
std::string describe_fits(const std::vector<cost_fit>& fits);
std::string fits_json(const std::vector<cost_fit>& fits);

}  // namespace troupe::cli
