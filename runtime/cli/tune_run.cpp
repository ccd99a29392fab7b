#include "runtime/cli/tune_run.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <utility>
#include <vector>

#include "config/load.hpp"
#include "config/option_text.hpp"
#include "runtime/cli/bench_call.hpp"
#include "runtime/cli/process_end.hpp"
#include "runtime/cli/tune_choice.hpp"
#include "runtime/cli/units.hpp"
#include "runtime/communicator.hpp"

namespace troupe::cli {
namespace {

using clock = std::chrono::steady_clock;

/// Chosen: all ranks are there, they just finished a barrier.
constexpr duration farewell = std::chrono::seconds(10);

/// Calls before the timed ones: links connect, buffers are touched.
constexpr std::uint32_t warmup_count = 2;

/// Timed calls of large buffers: their times vary less, and take long.
constexpr std::uint64_t large_bytes = 1ull << 20;
constexpr std::uint32_t large_iteration_count = 5;

/// Measured beside the size thresholds: whether many ranks should take fewer steps.
constexpr const char* bruck_option = "all_gather_bruck_above_ranks";

class tuner {
 public:
  tuner(const tune_options& options, const config::options& now, communicator& world)
      : options_(options), now_(now), world_(world) {}

  outcome<int> run();

 private:
  outcome<void> tune(const tuned_operation& operation);
  outcome<void> tune_bruck();
  outcome<std::vector<tuned_size>> measure(const tuned_operation& operation,
                                           const size_range& range);
  outcome<tuned_size> measure_size(bench_caller& caller, const tuned_operation& operation,
                                   const bench_shape& shape);
  outcome<std::vector<double>> mean_over_ranks(const std::vector<double>& mine);
  outcome<void> wait_for(outcome<work_handle> work);
  outcome<void> write() const;
  std::uint64_t value_now(const std::string& name) const;
  bool is_first() const { return world_.rank() == rank{0}; }

  const tune_options& options_;
  const config::options& now_;
  communicator& world_;
  std::vector<tuned_option> chosen_;
};

outcome<void> tuner::wait_for(outcome<work_handle> work) {
  if (!work) return fail(std::move(work.error()));
  return (*work)->wait();
}

std::uint64_t tuner::value_now(const std::string& name) const {
  const auto* option = config::find_option("collective." + name);
  return static_cast<std::uint64_t>(std::get<std::int64_t>(config::value_in(now_, *option)));
}

outcome<std::vector<double>> tuner::mean_over_ranks(const std::vector<double>& mine) {
  std::vector<double> mean(mine.size());
  auto done = wait_for(world_.all_reduce({.send = mine.data(),
                                          .receive = mean.data(),
                                          .count = mine.size(),
                                          .type = data_type::float64,
                                          .op = reduction::average}));
  if (!done) return fail(std::move(done.error()));
  return mean;
}

outcome<tuned_size> tuner::measure_size(bench_caller& caller, const tuned_operation& operation,
                                        const bench_shape& shape) {
  const std::size_t ways = operation.algorithms.size();
  const std::uint32_t timed = shape.bytes() > large_bytes
                                  ? std::min(options_.iteration_count, large_iteration_count)
                                  : options_.iteration_count;
  std::vector<double> times;
  for (std::uint32_t turn = 0; turn < warmup_count + timed; ++turn) {
    for (const algorithm which : operation.algorithms) {
      caller.take(which);
      if (auto met = wait_for(world_.barrier()); !met) return fail(std::move(met.error()));
      const auto begin = clock::now();
      auto done = caller.call(shape, bench_half::out_of_place);
      if (!done) return fail(std::move(done.error()));
      const auto took = std::chrono::duration<double, std::micro>(clock::now() - begin);
      if (turn >= warmup_count) times.push_back(took.count());
    }
  }
  auto means = mean_over_ranks(times);
  if (!means) return fail(std::move(means.error()));
  tuned_size out;
  out.bytes = shape.bytes();
  for (std::size_t way = 0; way < ways; ++way) {
    std::vector<double> of_way;
    for (std::size_t i = way; i < means->size(); i += ways)
      of_way.push_back((*means)[i]);
    const auto middle = of_way.begin() + static_cast<std::ptrdiff_t>(of_way.size() / 2);
    std::nth_element(of_way.begin(), middle, of_way.end());
    out.times_us.push_back(*middle);
  }
  return out;
}

outcome<std::vector<tuned_size>> tuner::measure(const tuned_operation& operation,
                                                const size_range& range) {
  bench_heading heading;
  heading.kind = operation.kind;
  heading.rank_count = world_.size();
  auto shapes = shapes_of(operation.kind, heading.type, world_.size(), range);
  if (!shapes) return fail(std::move(shapes.error()));
  bench_caller caller(world_, heading);
  std::vector<tuned_size> out;
  for (const bench_shape& shape : *shapes) {
    caller.reserve(shape);
    auto one = measure_size(caller, operation, shape);
    if (!one) return fail(std::move(one.error()));
    out.push_back(std::move(*one));
  }
  return out;
}

outcome<void> tuner::tune(const tuned_operation& operation) {
  auto sizes = measure(operation, options_.sizes);
  if (!sizes) return fail(std::move(sizes.error()));
  std::vector<std::uint64_t> before;
  for (const std::string& name : operation.thresholds)
    before.push_back(value_now(name));
  tuned_result result{operation, std::move(*sizes), {}};
  result.choice = choose_thresholds(result.sizes, before);
  for (std::size_t i = 0; i < operation.thresholds.size(); ++i)
    chosen_.push_back({operation.thresholds[i], std::to_string(result.choice.above_bytes[i])});
  if (!is_first()) return {};
  std::fputs(describe_result(result).c_str(), stdout);
  std::fflush(stdout);
  return {};
}

/// Sizes below the ring, if there are any, decide between direct and Bruck at this number of ranks.
outcome<void> tuner::tune_bruck() {
  const auto ring = std::find_if(chosen_.begin(), chosen_.end(), [](const tuned_option& one) {
    return one.name == "all_gather_ring_above_bytes";
  });
  size_range range = options_.sizes;
  range.last_bytes = std::min<std::uint64_t>(range.last_bytes, std::stoull(ring->value));
  if (world_.size() < 3 || range.last_bytes < range.first_bytes) return {};
  const tuned_operation operation{
      bench_kind::all_gather, {algorithm::direct, algorithm::bruck}, {}};
  auto sizes = measure(operation, range);
  if (!sizes) return fail(std::move(sizes.error()));
  const bruck_choice choice =
      choose_bruck(*sizes, world_.size(), static_cast<std::uint32_t>(value_now(bruck_option)));
  chosen_.push_back({bruck_option, std::to_string(choice.above_ranks)});
  if (is_first())
    std::printf("# all_gather below the ring: bruck takes %.2f of the time of direct\n# %s = %u\n",
                choice.mean_ratio, bruck_option, choice.above_ranks);
  return {};
}

outcome<void> tuner::write() const {
  const std::string heading = "Thresholds of " + std::to_string(world_.size()) + " ranks over " +
                              now_.transport.lanes + ", measured from " +
                              format_size(options_.sizes.first_bytes) + " to " +
                              format_size(options_.sizes.last_bytes) + " by troupe tune.";
  const std::string text = tuned_fragment(chosen_, heading);
  if (options_.output_file.empty()) {
    std::fputs(text.c_str(), stdout);
    return {};
  }
  std::ofstream file(options_.output_file);
  file << text;
  file.close();
  if (file) return {};
  return fail(errc::system_failure, "cannot write --output " + options_.output_file);
}

outcome<int> tuner::run() {
  for (const tuned_operation& operation : tuned_operations())
    if (auto done = tune(operation); !done) return fail(std::move(done.error()));
  if (auto done = tune_bruck(); !done) return fail(std::move(done.error()));
  if (is_first())
    if (auto done = write(); !done) return fail(std::move(done.error()));
  if (auto met = wait_for(world_.barrier()); !met) return fail(std::move(met.error()));
  if (auto gone = world_.finalize(farewell); !gone) return fail(std::move(gone.error()));
  return static_cast<int>(exit_code::success);
}

}  // namespace

outcome<int> run_tune_rank(const tune_options& options) {
  auto loaded = config::load(
      {.config_file = options.config_file, .settings = options.settings, .environment = {}});
  if (!loaded) return fail(loaded.error());
  communicator_options place;
  place.config_file = options.config_file;
  place.settings = options.settings;
  auto world = join(place);
  if (!world) return fail(std::move(world.error()));
  auto code = tuner(options, loaded->values, **world).run();
  if (!code)
    code.error().message =
        "rank " + std::to_string(to_index((*world)->rank())) + ": " + code.error().message;
  return code;
}

}  // namespace troupe::cli
