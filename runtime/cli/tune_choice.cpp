#include "runtime/cli/tune_choice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "runtime/assert.hpp"
#include "runtime/cli/units.hpp"

namespace troupe::cli {
namespace {

template <class... Values>
std::string print(const char* format, Values... values) {
  std::array<char, 256> text{};
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

/// Sum of the logarithms of the times that thresholds give: smaller is better.
double cost_of(const std::vector<tuned_size>& sizes, const std::vector<std::uint64_t>& above) {
  double cost = 0;
  for (const tuned_size& one : sizes)
    cost += std::log(one.times_us[taken_at(one.bytes, above)]);
  return cost;
}

/// Calls `visit` with every non-descending choice of thresholds among `places`, the largest first.
template <class Visit>
void for_each_choice(const std::vector<std::uint64_t>& places, std::vector<std::uint64_t>& above,
                     std::size_t next, const Visit& visit) {
  if (next == above.size()) {
    visit(above);
    return;
  }
  for (auto place = places.rbegin(); place != places.rend(); ++place) {
    if (next > 0 && *place < above[next - 1]) return;
    above[next] = *place;
    for_each_choice(places, above, next + 1, visit);
  }
}

std::size_t best_of(const tuned_size& one) {
  const auto best = std::min_element(one.times_us.begin(), one.times_us.end());
  return static_cast<std::size_t>(best - one.times_us.begin());
}

}  // namespace

const std::vector<tuned_operation>& tuned_operations() {
  static const std::vector<tuned_operation> all{
      {bench_kind::all_reduce,
       {algorithm::recursive_doubling, algorithm::recursive_halving, algorithm::ring},
       {"all_reduce_halving_above_bytes", "all_reduce_ring_above_bytes"}},
      {bench_kind::all_gather,
       {algorithm::direct, algorithm::ring},
       {"all_gather_ring_above_bytes"}},
      {bench_kind::reduce_scatter,
       {algorithm::direct, algorithm::ring},
       {"reduce_scatter_ring_above_bytes"}},
      {bench_kind::broadcast,
       {algorithm::binomial_tree, algorithm::chain},
       {"broadcast_chain_above_bytes"}},
      {bench_kind::reduce,
       {algorithm::binomial_tree, algorithm::chain},
       {"reduce_chain_above_bytes"}}};
  return all;
}

std::size_t taken_at(std::uint64_t bytes, const std::vector<std::uint64_t>& above_bytes) {
  std::size_t taken = 0;
  for (std::size_t i = 0; i < above_bytes.size(); ++i)
    if (bytes > above_bytes[i]) taken = i + 1;
  return taken;
}

tuned_choice choose_thresholds(const std::vector<tuned_size>& sizes,
                               const std::vector<std::uint64_t>& before) {
  TROUPE_ASSERT(!sizes.empty());
  std::vector<std::uint64_t> places{0};
  for (const tuned_size& one : sizes)
    places.push_back(one.bytes);
  tuned_choice out;
  out.above_bytes.assign(before.size(), places.back());
  double least = cost_of(sizes, out.above_bytes);
  std::vector<std::uint64_t> above(before.size());
  for_each_choice(places, above, 0, [&](const std::vector<std::uint64_t>& candidate) {
    const double cost = cost_of(sizes, candidate);
    if (cost >= least - 1e-9) return;
    least = cost;
    out.above_bytes = candidate;
  });
  // Beyond the last size nothing is known: what holds there now goes on.
  for (std::size_t i = 0; i < before.size(); ++i)
    if (out.above_bytes[i] == places.back())
      out.above_bytes[i] = std::max(out.above_bytes[i], before[i]);
  double best = 0;
  for (const tuned_size& one : sizes) {
    out.chosen.push_back(taken_at(one.bytes, out.above_bytes));
    best += std::log(one.times_us[best_of(one)]);
  }
  const auto count = static_cast<double>(sizes.size());
  out.mean_gain = std::exp((cost_of(sizes, before) - least) / count);
  out.mean_loss = std::exp((least - best) / count);
  return out;
}

bruck_choice choose_bruck(const std::vector<tuned_size>& sizes, std::uint32_t rank_count,
                          std::uint32_t before) {
  TROUPE_ASSERT(!sizes.empty());
  double sum = 0;
  for (const tuned_size& one : sizes)
    sum += std::log(one.times_us[1] / one.times_us[0]);
  bruck_choice out{before, std::exp(sum / static_cast<double>(sizes.size()))};
  if (out.mean_ratio < 1) out.above_ranks = std::min(before, rank_count - 1);
  if (out.mean_ratio > 1) out.above_ranks = std::max(before, rank_count);
  return out;
}

std::string describe_result(const tuned_result& result) {
  const tuned_operation& operation = result.operation;
  std::string text = "# " + std::string(to_string(operation.kind)) + ", median us\n";
  text += print("# %10s", "size (B)");
  for (const algorithm which : operation.algorithms)
    text += print("  %18s", std::string(to_string(which)).c_str());
  text += "  chosen, against the best other one\n";
  for (std::size_t i = 0; i < result.sizes.size(); ++i) {
    const tuned_size& one = result.sizes[i];
    const std::size_t chosen = result.choice.chosen[i];
    text += print("  %10llu", static_cast<unsigned long long>(one.bytes));
    double other = 0;
    for (std::size_t a = 0; a < one.times_us.size(); ++a) {
      text += print("  %18.1f", one.times_us[a]);
      if (a != chosen && (other == 0 || one.times_us[a] < other)) other = one.times_us[a];
    }
    text += print("  %s, %.2fx\n", std::string(to_string(operation.algorithms[chosen])).c_str(),
                  other / one.times_us[chosen]);
  }
  for (std::size_t i = 0; i < operation.thresholds.size(); ++i)
    text +=
        "# " + operation.thresholds[i] + " = " + format_size(result.choice.above_bytes[i]) + "\n";
  return text + print("# %.2fx as fast as before over these sizes; free choice would be %.2fx\n",
                      result.choice.mean_gain, result.choice.mean_gain * result.choice.mean_loss);
}

std::string tuned_fragment(const std::vector<tuned_option>& options, const std::string& heading) {
  std::string text = "# " + heading + "\n[collective]\n";
  for (const tuned_option& one : options)
    text += one.name + " = " + one.value + "\n";
  return text;
}

}  // namespace troupe::cli
