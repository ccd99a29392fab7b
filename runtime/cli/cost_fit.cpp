#include "runtime/cli/cost_fit.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>

#include "runtime/cli/setting_options.hpp"

namespace troupe::cli {
namespace {

double ceil_log2(std::uint32_t n) {
  return static_cast<double>(std::bit_width(n - 1));
}

/// Rounds among the power of two, and whether somebody is folded.
struct folded_rounds {
  double rounds = 0;
  double folds = 0;
  double active = 1;
};

folded_rounds rounds_of(std::uint32_t n) {
  const std::uint32_t active = std::bit_floor(n);
  return {static_cast<double>(std::countr_zero(active)), active == n ? 0.0 : 1.0,
          static_cast<double>(active)};
}

cost_terms all_reduce_terms(algorithm which, std::uint32_t n, double bytes) {
  const double p = n;
  const folded_rounds at = rounds_of(n);
  if (which == algorithm::ring) return {2 * (p - 1), 2 * (p - 1) / p * bytes};
  if (which == algorithm::recursive_doubling)
    return {at.rounds + 2 * at.folds, (at.rounds + 2 * at.folds) * bytes};
  if (which == algorithm::binomial_tree)
    return {2 * ceil_log2(n), (at.rounds + at.folds + ceil_log2(n)) * bytes};
  return {2 * at.rounds + 2 * at.folds, (2 * (at.active - 1) / at.active + 2 * at.folds) * bytes};
}

cost_terms tree_terms(algorithm which, std::uint32_t n, double bytes) {
  if (which == algorithm::chain) {
    const double chunk = std::min(std::max(bytes / 16, 64.0 * 1024), 1024.0 * 1024);
    return {static_cast<double>(n) - 1, bytes + (n - 2) * std::min(chunk, bytes)};
  }
  return {ceil_log2(n), ceil_log2(n) * bytes};
}

bool fits(bench_kind kind, algorithm which) {
  switch (kind) {
    case bench_kind::all_reduce:
      return which == algorithm::ring || which == algorithm::recursive_doubling ||
             which == algorithm::recursive_halving || which == algorithm::binomial_tree;
    case bench_kind::all_gather:
      return which == algorithm::ring || which == algorithm::direct || which == algorithm::bruck ||
             which == algorithm::binary_tree;
    case bench_kind::reduce_scatter: return which == algorithm::ring || which == algorithm::direct;
    case bench_kind::broadcast:
    case bench_kind::reduce: return which == algorithm::binomial_tree || which == algorithm::chain;
    case bench_kind::sendrecv: return which == algorithm::point_to_point;
    case bench_kind::barrier: return which == algorithm::dissemination;
    default: return which == algorithm::direct;
  }
}

outcome<algorithm> algorithm_of(const json_row& row) {
  const auto name = row.text("algorithm");
  if (!name) return fail(name.error());
  return parse_algorithm(*name);
}

/// A sample, or nothing if the row has nothing to say.
outcome<std::vector<cost_sample>> samples_of_row(const json_row& row) {
  const auto lanes = row.text("lanes");
  const auto name = row.text("operation");
  const auto ranks = row.number("ranks");
  const auto bytes = row.number("bytes");
  const auto time = row.number("p50_us");
  const auto which = algorithm_of(row);
  if (!lanes) return fail(lanes.error());
  if (!name) return fail(name.error());
  for (const auto* number : {&ranks, &bytes, &time})
    if (!*number) return fail(number->error());
  if (!which) return fail(which.error());
  const auto kind = parse_bench_kind(*name);
  if (!kind) return fail(kind.error());
  if (*ranks < 2 || *time <= 0 || *which == algorithm::none) return std::vector<cost_sample>{};
  const auto terms = terms_of(*kind, *which, static_cast<std::uint32_t>(*ranks), *bytes);
  if (!terms) return fail(terms.error());
  return std::vector<cost_sample>{{*lanes, *terms, *time}};
}

/// Sums of the normal equations of a * steps / t + g * bytes / t = 1.
struct normal_sums {
  double steps_steps = 0, steps_bytes = 0, bytes_bytes = 0, steps = 0, bytes = 0;

  void add(const cost_sample& one) {
    const double s = one.terms.steps / one.time_us, b = one.terms.bytes / one.time_us;
    steps_steps += s * s;
    steps_bytes += s * b;
    bytes_bytes += b * b;
    steps += s;
    bytes += b;
  }
};

struct cost_pair {
  double step_us = 0;
  double byte_us = 0;
};

/// False if the samples leave one of the two numbers open.
bool solve(const normal_sums& sums, cost_pair& out) {
  const double determinant =
      sums.steps_steps * sums.bytes_bytes - sums.steps_bytes * sums.steps_bytes;
  if (determinant <= 1e-12 * sums.steps_steps * sums.bytes_bytes) return false;
  out.step_us = (sums.steps * sums.bytes_bytes - sums.bytes * sums.steps_bytes) / determinant;
  out.byte_us = (sums.bytes * sums.steps_steps - sums.steps * sums.steps_bytes) / determinant;
  // The best pair outside lies beyond an edge: then the best one inside lies on it.
  if (out.step_us < 0) out = {0, sums.bytes / sums.bytes_bytes};
  if (out.byte_us < 0) out = {sums.steps / sums.steps_steps, 0};
  return true;
}

template <class... Values>
std::string print(const char* format, Values... values) {
  std::array<char, 256> text{};
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

}  // namespace

outcome<cost_terms> terms_of(bench_kind kind, algorithm which, std::uint32_t rank_count,
                             double bytes) {
  if (!fits(kind, which))
    return fail(errc::bad_argument, std::string(to_string(kind)) + " has no algorithm " +
                                        std::string(to_string(which)));
  const double p = rank_count;
  switch (kind) {
    case bench_kind::all_reduce: return all_reduce_terms(which, rank_count, bytes);
    case bench_kind::broadcast:
    case bench_kind::reduce: return tree_terms(which, rank_count, bytes);
    case bench_kind::sendrecv: return cost_terms{1, bytes};
    case bench_kind::barrier: return cost_terms{ceil_log2(rank_count), 0};
    default: break;
  }
  if (which == algorithm::binary_tree) {
    // Rank 0 sends all of it to two children; above them the tree has ceil(log2(P + 1)) levels.
    const double levels = ceil_log2(rank_count + 1);
    return cost_terms{2 * (levels - 1), std::min(p - 1, 2.0) * bytes};
  }
  const double steps = which == algorithm::bruck ? ceil_log2(rank_count) : p - 1;
  return cost_terms{steps, (p - 1) / p * bytes};
}

outcome<std::vector<cost_sample>> samples_of(const std::vector<json_row>& rows) {
  std::vector<cost_sample> out;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    auto some = samples_of_row(rows[i]);
    if (!some)
      return fail(errc::bad_argument, "row " + std::to_string(i + 1) + ": " + some.error().message);
    out.insert(out.end(), some->begin(), some->end());
  }
  return out;
}

outcome<std::vector<cost_fit>> fit_costs(const std::vector<cost_sample>& samples) {
  std::map<std::string, std::vector<cost_sample>> by_lanes;
  for (const cost_sample& one : samples)
    by_lanes[one.lanes].push_back(one);
  std::vector<cost_fit> out;
  for (const auto& [lanes, of_lanes] : by_lanes) {
    normal_sums sums;
    for (const cost_sample& one : of_lanes)
      sums.add(one);
    cost_pair found;
    if (!solve(sums, found))
      return fail(errc::bad_argument,
                  "the " + std::to_string(of_lanes.size()) + " rows over " + lanes +
                      " do not tell the cost of a step from that of a byte; measure at least two "
                      "sizes (-b, -e), from small to large");
    cost_fit fit{.lanes = lanes, .step_us = found.step_us, .sample_count = of_lanes.size()};
    fit.bytes_per_us =
        found.byte_us > 0 ? 1 / found.byte_us : std::numeric_limits<double>::infinity();
    double squares = 0;
    for (const cost_sample& one : of_lanes) {
      const double error = modelled_us(fit, one.terms) / one.time_us - 1;
      squares += error * error;
      if (std::abs(error) > std::abs(fit.largest_error)) fit.largest_error = error;
    }
    fit.rms_error = std::sqrt(squares / static_cast<double>(of_lanes.size()));
    out.push_back(fit);
  }
  if (out.empty())
    return fail(errc::bad_argument, "no row of two or more ranks that moved anything");
  return out;
}

double modelled_us(const cost_fit& fit, const cost_terms& terms) {
  return fit.step_us * terms.steps + terms.bytes / fit.bytes_per_us;
}

std::string describe_fits(const std::vector<cost_fit>& fits) {
  std::string text = "# T = Tc * steps + bytes / BW; errors are (model - measured) / measured\n";
  text += print("# %-8s %12s %12s %6s %10s %10s\n", "lanes", "Tc (us)", "BW (GB/s)", "rows", "rms",
                "largest");
  for (const cost_fit& fit : fits)
    text += print("  %-8s %12.3f %12.4f %6zu %9.1f%% %+9.1f%%\n", fit.lanes.c_str(), fit.step_us,
                  fit.bytes_per_us / 1e3, fit.sample_count, fit.rms_error * 100,
                  fit.largest_error * 100);
  return text;
}

std::string fits_json(const std::vector<cost_fit>& fits) {
  std::string text;
  for (const cost_fit& fit : fits) {
    text += (text.empty() ? "" : ",\n") + std::string("  {\"lanes\": \"") + fit.lanes + "\"";
    text += print(", \"step_us\": %.6f", fit.step_us);
    text += std::isfinite(fit.bytes_per_us)
                ? print(", \"bandwidth_gbs\": %.6f", fit.bytes_per_us / 1e3)
                : std::string(", \"bandwidth_gbs\": null");
    text += print(", \"rows\": %zu, \"rms_error\": %.6f, \"largest_error\": %.6f}",
                  fit.sample_count, fit.rms_error, fit.largest_error);
  }
  return "[\n" + text + "\n]\n";
}

}  // namespace troupe::cli
