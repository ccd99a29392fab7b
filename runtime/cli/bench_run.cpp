#include "runtime/cli/bench_run.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>

#include "runtime/cli/bench_data.hpp"
#include "runtime/cli/process_end.hpp"
#include "runtime/cli/units.hpp"

namespace troupe::cli {
namespace {

using clock = std::chrono::steady_clock;

/// Saying good-bye to the peers. Chosen: all of them are there, they just finished a barrier.
constexpr duration farewell = std::chrono::seconds(10);

/// Two redrawings of the progress line are at least this far apart. Chosen.
constexpr clock::duration redraw_interval = std::chrono::milliseconds(100);

/// Where one call reads and writes.
struct call_buffers {
  std::span<std::byte> send;
  std::span<std::byte> receive;
};

/// The bytes that a rank tells the others of itself.
struct introduction {
  std::int32_t pid = 0;
  std::array<char, 60> host{};
};

class bench_runner {
 public:
  bench_runner(const bench_options& options, std::unique_ptr<communicator> world)
      : options_(options), heading_(options.heading), world_(std::move(world)) {
    heading_.rank_count = world_->size();
  }

  outcome<int> run();

 private:
  outcome<void> wait_for(outcome<work_handle> work);
  outcome<void> barrier() { return wait_for(world_->barrier()); }
  outcome<void> introduce();
  outcome<void> call(const call_buffers& buffers, std::uint64_t count);
  outcome<void> exchange(const call_buffers& buffers, std::uint64_t count);
  call_buffers buffers_of(const bench_shape& shape, bool in_place);
  bool has(bool in_place) const;

  outcome<void> warm_up(const std::vector<bench_shape>& shapes);
  outcome<bench_row> measure_row(const bench_shape& shape);
  outcome<bench_measure> measure_half(const bench_shape& shape, bool in_place);
  outcome<std::uint64_t> check(const bench_shape& shape, bool in_place);
  outcome<std::uint64_t> fill_call_and_compare(const bench_shape& shape, bool in_place);
  std::uint64_t compare_moved(const call_buffers& buffers, const bench_shape& shape) const;
  outcome<std::uint64_t> sum_over_ranks(std::uint64_t value);

  bool is_first() const { return world_->rank() == rank{0}; }
  void show(const std::string& what);
  void hide();
  outcome<void> write_json(const std::vector<bench_row>& rows) const;

  const bench_options& options_;
  bench_heading heading_;
  std::unique_ptr<communicator> world_;
  std::vector<std::byte> a_;
  std::vector<std::byte> b_;
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
  auto done = wait_for(world_->all_gather(
      {.send = &mine, .receive = all.data(), .count = sizeof mine, .type = data_type::uint8}));
  if (!done || !is_first()) return done;
  std::vector<bench_device> devices;
  for (const introduction& each : all)
    devices.push_back({each.pid, each.host.data()});
  std::fputs(table_heading(heading_, devices).c_str(), stdout);
  std::fflush(stdout);
  return {};
}

bool bench_runner::has(bool in_place) const {
  // Sending and receiving at once needs two buffers, and a barrier has none.
  if (in_place && (heading_.kind == bench_kind::sendrecv || heading_.kind == bench_kind::barrier))
    return false;
  return options_.places == bench_places::both ||
         (options_.places == bench_places::in_place) == in_place;
}

call_buffers bench_runner::buffers_of(const bench_shape& shape, bool in_place) {
  const std::span<std::byte> a(a_.data(), shape.send_bytes);
  const std::span<std::byte> b(b_.data(), shape.receive_bytes);
  if (!in_place) return {a, b};
  const std::uint64_t mine =
      std::min(shape.send_bytes, shape.receive_bytes) * to_index(world_->rank());
  switch (heading_.kind) {
    case bench_kind::all_gather: return {b.subspan(mine, shape.send_bytes), b};
    case bench_kind::reduce_scatter: return {a, a.subspan(mine, shape.receive_bytes)};
    default: return {b, b};
  }
}

outcome<void> bench_runner::call(const call_buffers& buffers, std::uint64_t count) {
  const data_type type = heading_.type;
  const reduction op = heading_.op;
  const operation_options how{.timeout = {}, .algorithm = options_.wanted_algorithm};
  const reduction_data scalars({type, op, 1, 0});
  const double scalar =
      op == reduction::premultiplied_sum ? scalars.scalar_of(world_->rank()) : 1.0;
  const void* send = buffers.send.data();
  void* receive = buffers.receive.data();
  switch (heading_.kind) {
    case bench_kind::all_reduce:
      return wait_for(world_->all_reduce({send, receive, count, type, op, scalar, how}));
    case bench_kind::all_gather:
      return wait_for(world_->all_gather({send, receive, count, type, how}));
    case bench_kind::reduce_scatter:
      return wait_for(world_->reduce_scatter({send, receive, count, type, op, scalar, how}));
    case bench_kind::broadcast:
      // The call has one buffer; out of place, the root brings its data there first.
      if (send != receive && to_index(world_->rank()) == heading_.root)
        std::memcpy(receive, send, buffers.receive.size());
      return wait_for(world_->broadcast({receive, count, type, rank{heading_.root}, how}));
    case bench_kind::sendrecv: return exchange(buffers, count);
    case bench_kind::barrier: return wait_for(world_->barrier(how));
  }
  return fail(errc::internal_failure, "a collective without a call");
}

outcome<void> bench_runner::exchange(const call_buffers& buffers, std::uint64_t count) {
  const std::uint32_t n = world_->size();
  const std::uint32_t me = to_index(world_->rank());
  auto received =
      world_->receive({buffers.receive.data(), count, heading_.type, rank{(me + n - 1) % n}, {}});
  auto sent = world_->send({buffers.send.data(), count, heading_.type, rank{(me + 1) % n}, {}});
  auto done = wait_for(std::move(sent));
  return done ? wait_for(std::move(received)) : done;
}

outcome<void> bench_runner::warm_up(const std::vector<bench_shape>& shapes) {
  for (const bench_shape& shape : shapes) {
    show("warm-up " + format_size(shape.bytes()));
    for (const bool in_place : {false, true}) {
      if (!has(in_place)) continue;
      for (std::uint32_t i = 0; i < heading_.warmup_count; ++i)
        if (auto done = call(buffers_of(shape, in_place), shape.count); !done) return done;
    }
  }
  return {};
}

outcome<bench_measure> bench_runner::measure_half(const bench_shape& shape, bool in_place) {
  const call_buffers buffers = buffers_of(shape, in_place);
  if (auto met = barrier(); !met) return fail(std::move(met.error()));
  std::vector<double> calls_us(heading_.iteration_count);
  for (std::size_t i = 0; i < calls_us.size(); ++i) {
    show(format_size(shape.bytes()) + (in_place ? " in place" : " out of place") + ", call " +
         std::to_string(i + 1) + " of " + std::to_string(calls_us.size()));
    const auto start = clock::now();
    if (auto done = call(buffers, shape.count); !done) return fail(std::move(done.error()));
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
  if (!heading_.checks || heading_.kind == bench_kind::barrier) return measure;
  auto wrong = check(shape, in_place);
  if (!wrong) return fail(std::move(wrong.error()));
  measure.wrong = *wrong;
  return measure;
}

/// One more call, with fresh data, whose result is compared element by element.
outcome<std::uint64_t> bench_runner::check(const bench_shape& shape, bool in_place) {
  ++seed_;
  auto wrong = fill_call_and_compare(shape, in_place);
  if (!wrong) return wrong;
  wrong_here_ += *wrong;
  return sum_over_ranks(*wrong);
}

outcome<std::uint64_t> bench_runner::fill_call_and_compare(const bench_shape& shape,
                                                           bool in_place) {
  const rank me = world_->rank();
  const call_buffers buffers = buffers_of(shape, in_place);
  const reduction_data data({heading_.type, heading_.op, world_->size(), seed_});
  std::fill(buffers.receive.begin(), buffers.receive.end(), std::byte{0xa5});
  if (reduces(heading_.kind))
    data.fill_input(buffers.send, me, 0);
  else if (heading_.kind != bench_kind::broadcast || to_index(me) == heading_.root)
    fill_moved(buffers.send, seed_, me);
  if (auto done = call(buffers, shape.count); !done) return fail(std::move(done.error()));
  if (!reduces(heading_.kind)) return compare_moved(buffers, shape);
  const bool scattered = heading_.kind == bench_kind::reduce_scatter;
  return data.count_wrong(buffers.receive, scattered ? shape.count * to_index(me) : 0);
}

std::uint64_t bench_runner::compare_moved(const call_buffers& buffers,
                                          const bench_shape& shape) const {
  const std::size_t element_bytes = size_of(heading_.type);
  const std::uint32_t n = world_->size();
  if (heading_.kind == bench_kind::broadcast)
    return count_wrong_moved(buffers.receive, seed_, rank{heading_.root}, element_bytes);
  if (heading_.kind == bench_kind::sendrecv)
    return count_wrong_moved(buffers.receive, seed_, rank{(to_index(world_->rank()) + n - 1) % n},
                             element_bytes);
  std::uint64_t wrong = 0;
  for (std::uint32_t r = 0; r < n; ++r)
    wrong += count_wrong_moved(buffers.receive.subspan(r * shape.send_bytes, shape.send_bytes),
                               seed_, rank{r}, element_bytes);
  return wrong;
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
  a_.resize(shapes->back().send_bytes);
  b_.resize(shapes->back().receive_bytes);
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
