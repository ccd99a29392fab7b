#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/cli/bench_shape.hpp"
#include "runtime/operation.hpp"

namespace troupe::cli {

/// Algorithms of one operation among which the size decides, the one for small buffers first, and
/// the options that say where the next one begins.
struct tuned_operation {
  bench_kind kind = bench_kind::all_reduce;
  std::vector<algorithm> algorithms;
  std::vector<std::string> thresholds;  ///< names of options; one less than algorithms
};

/// All that is tuned.
const std::vector<tuned_operation>& tuned_operations();

/// Median times of one size, by algorithm.
struct tuned_size {
  std::uint64_t bytes = 0;
  std::vector<double> times_us;
};

/// Where each algorithm but the first begins, and what that is worth.
struct tuned_choice {
  std::vector<std::uint64_t> above_bytes;  ///< one for each threshold, not descending
  std::vector<std::size_t> chosen;         ///< by size: index of the algorithm taken
  double mean_gain = 1;  ///< geometric mean over sizes of (the choice of `before`) / (this choice)
  double mean_loss = 1;  ///< the same of (this choice) / (the best of each size): what thresholds,
                         ///< unlike free choice, cost
};

/// The thresholds with the smallest product of times over all sizes. Of equal ones those that keep
/// algorithms of small buffers longest. An algorithm that is best nowhere gets an empty range: its
/// threshold is that of the next one. Where nothing measured speaks for the algorithm of the
/// largest buffers, its threshold is not lowered to the last size. `before`: the thresholds that
/// hold now. `sizes`: ascending, at least one, each with a time above 0 for every algorithm.
tuned_choice choose_thresholds(const std::vector<tuned_size>& sizes,
                               const std::vector<std::uint64_t>& before);

/// The index of the algorithm that thresholds give for a size: the last one whose threshold the
/// size is above, as the choice table reads them.
std::size_t taken_at(std::uint64_t bytes, const std::vector<std::uint64_t>& above_bytes);

/// Whether few steps or few hops win an all_gather at some number of ranks.
struct bruck_choice {
  std::uint32_t above_ranks = 0;  ///< the option: Bruck among more ranks than this
  double mean_ratio = 1;          ///< geometric mean over sizes of Bruck's time / direct's
};

/// `sizes`: times of direct and of Bruck among `rank_count` ranks. Bruck's limit moves below
/// `rank_count` if it wins, up to it if it loses, and stays where it is otherwise.
bruck_choice choose_bruck(const std::vector<tuned_size>& sizes, std::uint32_t rank_count,
                          std::uint32_t before);

/// What was chosen for one operation, with its measured times.
struct tuned_result {
  tuned_operation operation;
  std::vector<tuned_size> sizes;
  tuned_choice choice;
};

/// A table for people: sizes, times, the choice and by how much it wins over the best other one.
std::string describe_result(const tuned_result& result);

/// One option of the fragment.
struct tuned_option {
  std::string name;
  std::string value;
};

/// The [collective] section with these options, as a file of the configuration.
std::string tuned_fragment(const std::vector<tuned_option>& options, const std::string& heading);

}  // namespace troupe::cli
