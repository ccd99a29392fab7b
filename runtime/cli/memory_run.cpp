#include "runtime/cli/memory_run.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <thread>

#include "runtime/cli/process_end.hpp"
#include "runtime/communicator.hpp"
#include "runtime/simulation.hpp"

namespace troupe::cli {
namespace {

/// Chosen: all ranks are there, they just finished a gather.
constexpr duration farewell = std::chrono::seconds(10);

/// What "used" means: reductions along the ring, small ones and ones that are cut into chunks and
/// take staging memory. Repeated, so that whatever grows with use would be seen.
constexpr std::uint64_t small_count = 2;
constexpr std::uint64_t large_count = (1ull << 20) / sizeof(float);
constexpr int repetition_count = 8;

/// The same for simulated ranks: too long for a slot of a small message.
constexpr std::uint64_t chain_count = 4096;

/// Between the sample of an idle rank and its first call, whose connections its peers would count.
/// There is no other way to wait for them: a barrier connects. Chosen: ranks of one host join
/// within some ms of each other.
constexpr duration idle_pause = std::chrono::milliseconds(500);

/// What a rank tells rank 0: three samples, as one array of words.
struct rank_samples {
  memory_sample before, idle, used;
};
static_assert(sizeof(rank_samples) % sizeof(std::uint64_t) == 0);

outcome<void> use_the_ring(communicator& world) {
  std::vector<float> data(large_count);
  for (const std::uint64_t count : {small_count, large_count}) {
    for (int i = 0; i < repetition_count; ++i) {
      auto work = world.all_reduce({.send = data.data(),
                                    .receive = data.data(),
                                    .count = count,
                                    .options = {.algorithm = algorithm::ring}});
      if (!work) return fail(std::move(work.error()));
      if (auto done = (*work)->wait(); !done) return done;
    }
  }
  return {};
}

std::vector<memory_case> cases_of(std::span<const rank_samples> ranks) {
  std::vector<memory_sample> before, idle, used;
  for (const rank_samples& each : ranks) {
    before.push_back(each.before);
    idle.push_back(each.idle);
    used.push_back(each.used);
  }
  std::vector<memory_case> out{make_memory_case(idle, before), make_memory_case(used, before)};
  out[0].state = "idle";
  out[1].state = "used";
  return out;
}

outcome<void> write_rows(const std::string& name, const std::vector<memory_case>& cases) {
  std::ofstream file(name);
  file << memory_json(cases);
  file.close();
  if (file) return {};
  return fail(errc::system_failure, "cannot write " + name + ": " + std::strerror(errno));
}

outcome<void> measure(communicator& world, const memory_sample& before,
                      const memory_run_options& options) {
  rank_samples mine;
  mine.before = before;
  mine.idle = sample_process(world.memory());
  std::this_thread::sleep_for(idle_pause);
  if (auto used = use_the_ring(world); !used) return used;
  mine.used = sample_process(world.memory());
  std::vector<rank_samples> all(world.size());
  auto work = world.all_gather({.send = &mine,
                                .receive = all.data(),
                                .count = sizeof mine / sizeof(std::uint64_t),
                                .type = data_type::uint64});
  if (!work) return fail(std::move(work.error()));
  if (auto done = (*work)->wait(); !done || world.rank() != rank{0}) return done;
  auto cases = cases_of(all);
  for (memory_case& each : cases) {
    each.world = "processes";
    each.lanes = to_string((*work)->path().lanes);
  }
  return write_rows(options.rows_file, cases);
}

}  // namespace

outcome<int> run_memory_rank(const memory_run_options& options) {
  communicator_options place;
  place.settings = options.settings;
  const auto before = sample_process({});
  auto world = join(place);
  if (!world) return fail(std::move(world.error()));
  auto done = measure(**world, before, options);
  if (done) done = (*world)->finalize(farewell);
  if (done) return static_cast<int>(exit_code::success);
  const auto me = std::to_string(to_index((*world)->rank()));
  return fail(failure{done.error().what, "rank " + me + ": " + done.error().message});
}

outcome<std::vector<memory_case>> simulate_memory(std::uint32_t rank_count) {
  simulation_options options;
  options.rank_count = rank_count;
  // Along a chain each rank moves what a neighbour has, too, in as many steps as there are ranks;
  // an all_reduce along the ring takes their square.
  options.operation = {operation_kind::broadcast, data_type::float32, reduction::sum, 0,
                       chain_count};
  options.repetition_count = 2;
  options.call.algorithm = algorithm::chain;
  const auto report = simulate(options);
  if (!report) return fail(report.error());
  std::vector<rank_samples> ranks(rank_count);
  for (std::uint32_t r = 0; r < rank_count; ++r) {
    ranks[r].idle.ledger = report->idle_memory[r];
    ranks[r].used.ledger = report->used_memory[r];
  }
  auto cases = cases_of(ranks);
  for (memory_case& each : cases) {
    each.world = "simulated";
    each.lanes = to_string(report->path.lanes);
    each.unaccounted.reset();
  }
  return cases;
}

}  // namespace troupe::cli
