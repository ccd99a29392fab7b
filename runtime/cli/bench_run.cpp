#include "runtime/cli/bench_run.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>

#include "runtime/cli/bench_call.hpp"
#include "runtime/cli/process_end.hpp"
#include "runtime/cli/units.hpp"

namespace troupe::cli {
namespace {

using clock = std::chrono::steady_clock;

/// Saying good-bye to the peers. Chosen: all of them are there, they just finished a barrier.
constexpr duration farewell = std::chrono::seconds(10);

/// Two redrawings of the progress line are at least this far apart. Chosen.
constexpr clock::duration redraw_interval = std::chrono::milliseconds(100);

/// The bytes that a rank tells the others of itself.
struct introduction {
  std::int32_t pid = 0;
  std::array<char, 60> host{};
};

bench_half half_of(bool in_place) {
  return in_place ? bench_half::in_place : bench_half::out_of_place;
}

class bench_runner {
 public:
  bench_runner(const bench_options& options, std::unique_ptr<communicator> world)
      : options_(options),
        heading_(options.heading),
        world_(std::move(world)),
        caller_(*world_, heading_) {
    heading_.rank_count = world_->size();
    caller_.take(options.wanted_algorithm);
  }

  outcome<int> run();

 private:
  outcome<void> wait_for(outcome<work_handle> work);
  outcome<void> barrier() { return wait_for(world_->barrier()); }
  outcome<void> introduce();
  bool has(bool in_place) const;

  outcome<void> warm_up(const std::vector<bench_shape>& shapes);
  outcome<bench_row> measure_row(const bench_shape& shape);
  outcome<bench_measure> measure_half(const bench_shape& shape, bool in_place);
  outcome<std::uint64_t> check(const bench_shape& shape, bool in_place);
  outcome<std::uint64_t> sum_over_ranks(std::uint64_t value);

  bool is_first() const { return world_->rank() == rank{0}; }
  void show(const std::string& what);
  void hide();
  outcome<void> write_json(const std::vector<bench_row>& rows) const;

  const bench_options& options_;
  bench_heading heading_;
  std::unique_ptr<communicator> world_;
  bench_caller caller_;
  std::uint64_t seed_ = 1;
  std::uint64_t wrong_here_ = 0;
  bool shown_ = false;
  clock::time_point last_shown_{};
};

outcome<void> bench_runner::wait_for(outcome<work_handle> work) {
  if (!work) return fail(std::move(work.error()));
  return (*work)->wait();
}

/// Rank 0 learns who takes part, and prints what stands above the table.
outcome<void> bench_runner::introduce() {
  introduction mine;
  mine.pid = static_cast<std::int32_t>(::getpid());
  ::gethostname(mine.host.data(), mine.host.size() - 1);
  std::vector<introduction> all(world_->size());
  auto work = world_->all_gather(
      {.send = &mine, .receive = all.data(), .count = sizeof mine, .type = data_type::uint8});
  if (!work) return fail(std::move(work.error()));
  if (auto done = (*work)->wait(); !done || !is_first()) return done;
  // What was asked for leaves the choice to the endpoint; the table says what it was.
  heading_.lanes = to_string((*work)->path().lanes);
  std::vector<bench_device> devices;
  for (const introduction& each : all)
    devices.push_back({each.pid, each.host.data()});
  std::fputs(table_heading(heading_, devices).c_str(), stdout);
  std::fflush(stdout);
  return {};
}

bool bench_runner::has(bool in_place) const {
  if (in_place && !has_in_place_half(heading_.kind)) return false;
  return options_.places == bench_places::both ||
         (options_.places == bench_places::in_place) == in_place;
}

outcome<void> bench_runner::warm_up(const std::vector<bench_shape>& shapes) {
  for (const bench_shape& shape : shapes) {
    show("warm-up " + format_size(shape.bytes()));
    for (const bool in_place : {false, true}) {
      if (!has(in_place)) continue;
      for (std::uint32_t i = 0; i < heading_.warmup_count; ++i)
        if (auto done = caller_.call(shape, half_of(in_place)); !done) return done;
    }
  }
  return {};
}

outcome<bench_measure> bench_runner::measure_half(const bench_shape& shape, bool in_place) {
  if (auto met = barrier(); !met) return fail(std::move(met.error()));
  std::vector<double> calls_us(heading_.iteration_count);
  for (std::size_t i = 0; i < calls_us.size(); ++i) {
    show(format_size(shape.bytes()) + (in_place ? " in place" : " out of place") + ", call " +
         std::to_string(i + 1) + " of " + std::to_string(calls_us.size()));
    const auto start = clock::now();
    if (auto done = caller_.call(shape, half_of(in_place)); !done)
      return fail(std::move(done.error()));
    calls_us[i] = std::chrono::duration<double, std::micro>(clock::now() - start).count();
  }
  std::vector<double> sums(calls_us.size());
  auto summed = wait_for(world_->all_reduce({.send = calls_us.data(),
                                             .receive = sums.data(),
                                             .count = sums.size(),
                                             .type = data_type::float64,
                                             .op = reduction::sum}));
  if (!summed) return fail(std::move(summed.error()));
  double total = 0;
  for (double& each : sums)
    total += each /= world_->size();
  bench_measure measure =
      measure_of(heading_.kind, shape, world_->size(), total / static_cast<double>(sums.size()));
  std::nth_element(sums.begin(), sums.begin() + static_cast<std::ptrdiff_t>(sums.size() / 2),
                   sums.end());
  measure.p50_us = sums[sums.size() / 2];
  measure.algorithm = caller_.path().algorithm;
  if (!heading_.checks || heading_.kind == bench_kind::barrier) return measure;
  auto wrong = check(shape, in_place);
  if (!wrong) return fail(std::move(wrong.error()));
  measure.wrong = *wrong;
  return measure;
}

/// One more call, with fresh data, whose result is compared element by element.
outcome<std::uint64_t> bench_runner::check(const bench_shape& shape, bool in_place) {
  ++seed_;
  auto wrong = caller_.check(shape, half_of(in_place), seed_);
  if (!wrong) return wrong;
  wrong_here_ += *wrong;
  return sum_over_ranks(*wrong);
}

outcome<std::uint64_t> bench_runner::sum_over_ranks(std::uint64_t value) {
  std::uint64_t sum = 0;
  auto done = wait_for(world_->all_reduce({.send = &value,
                                           .receive = &sum,
                                           .count = 1,
                                           .type = data_type::uint64,
                                           .op = reduction::sum}));
  if (!done) return fail(std::move(done.error()));
  return sum;
}

outcome<bench_row> bench_runner::measure_row(const bench_shape& shape) {
  bench_row row;
  row.shape = shape;
  for (const bool in_place : {false, true}) {
    if (!has(in_place)) continue;
    auto half = measure_half(shape, in_place);
    if (!half) return fail(std::move(half.error()));
    (in_place ? row.in_place : row.out_of_place) = *half;
  }
  return row;
}

void bench_runner::show(const std::string& what) {
  const auto now = clock::now();
  if (options_.shows == progress::silent || !is_first()) return;
  if (shown_ && now - last_shown_ < redraw_interval) return;
  std::fprintf(stderr, "\r\x1b[K# %s %s", std::string(to_string(heading_.kind)).c_str(),
               what.c_str());
  std::fflush(stderr);
  shown_ = true;
  last_shown_ = now;
}

void bench_runner::hide() {
  if (!shown_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  shown_ = false;
}

outcome<void> bench_runner::write_json(const std::vector<bench_row>& rows) const {
  if (options_.json_file.empty() || !is_first()) return {};
  std::ofstream file(options_.json_file);
  file << table_json(heading_, rows);
  file.close();
  if (file) return {};
  return fail(errc::system_failure,
              "cannot write --json " + options_.json_file + ": " + std::strerror(errno));
}

outcome<int> bench_runner::run() {
  auto shapes = shapes_of(heading_.kind, heading_.type, world_->size(), heading_.sizes);
  if (!shapes) return fail(std::move(shapes.error()));
  if (heading_.root >= world_->size())
    return fail(errc::bad_argument, "--root " + std::to_string(heading_.root) +
                                        " is no rank; there are 0 to " +
                                        std::to_string(world_->size() - 1));
  caller_.reserve(shapes->back());
  if (auto done = introduce(); !done) return fail(std::move(done.error()));
  if (auto done = warm_up(*shapes); !done) return fail(std::move(done.error()));
  std::vector<bench_row> rows;
  for (const bench_shape& shape : *shapes) {
    auto row = measure_row(shape);
    hide();
    if (!row) return fail(std::move(row.error()));
    rows.push_back(*row);
    if (is_first()) std::fputs(table_row(heading_, *row).c_str(), stdout);
    if (is_first()) std::fflush(stdout);
  }
  if (is_first()) std::fputs(table_end(heading_, rows).c_str(), stdout);
  if (auto written = write_json(rows); !written) return fail(std::move(written.error()));
  if (auto met = barrier(); !met) return fail(std::move(met.error()));
  if (auto gone = world_->finalize(farewell); !gone) return fail(std::move(gone.error()));
  // A rank's own count holds even if the sum over ranks came out wrong as well.
  const bool wrong = wrong_here_ != 0 || out_of_bounds_count(rows) != 0;
  return static_cast<int>(wrong ? exit_code::wrong_result : exit_code::success);
}

}  // namespace

outcome<int> run_bench_rank(const bench_options& options) {
  communicator_options place;
  place.config_file = options.config_file;
  place.settings = options.settings;
  auto world = join(place);
  if (!world) return fail(std::move(world.error()));
  const rank me = (*world)->rank();
  auto code = bench_runner(options, std::move(*world)).run();
  if (!code)
    code.error().message = "rank " + std::to_string(to_index(me)) + ": " + code.error().message;
  return code;
}

}  // namespace troupe::cli
