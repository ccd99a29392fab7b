#define BOOST_TEST_MODULE stream_sim
#include <boost/test/unit_test.hpp>

#include <memory>
#include <string>
#include <vector>

#include "actors/simulation/simulated_stage.hpp"
#include "runtime/group.hpp"
#include "runtime/random.hpp"
#include "tests/reference/operation_stream.hpp"

namespace troupe::actors {
namespace {

using reference::stream_batch;
using reference::stream_part;

constexpr duration patience = std::chrono::seconds(60);
constexpr std::uint64_t seed_count = 300;

/// Small limits, drawn: many chunks, every threshold crossed, eager and rendezvous both.
stage_options draw_stage(std::uint64_t seed, random_stream& draw) {
  stage_options out;
  out.seed = seed;
  out.rank_count = static_cast<std::uint32_t>(draw.between(2, 8));
  auto& transport = out.options.transport;
  transport.eager_bytes = draw.one_in(4) ? 0 : draw.between(64, 2048);
  transport.eager_slot_count = static_cast<std::uint32_t>(draw.between(2, 8));
  transport.window_segment_count = 64;
  transport.transfer_count = 256;
  transport.parked_bytes = 16 * 1024;
  transport.segment_bytes = 4096ull << draw.below(3);
  transport.data_lane_count = static_cast<std::uint8_t>(draw.between(1, 3));
  auto& collective = out.options.collective;
  collective.chunk_bytes = 64 * draw.between(1, 64);
  collective.pipeline_chunk_count = static_cast<std::uint32_t>(draw.between(1, 16));
  collective.all_reduce_halving_above_bytes = draw.below(4000);
  collective.all_reduce_ring_above_bytes = draw.below(16'000);
  collective.all_gather_ring_above_bytes = draw.below(16'000);
  collective.all_gather_bruck_above_ranks = static_cast<std::uint32_t>(draw.between(1, 8));
  collective.reduce_scatter_ring_above_bytes = draw.below(16'000);
  collective.broadcast_chain_above_bytes = draw.below(8000);
  collective.reduce_chain_above_bytes = draw.below(8000);
  out.fabric.jitter = std::chrono::microseconds(draw.below(20));
  return out;
}

/// The communicators of one stream: the world, everybody in reverse, and two halves.
class stream_world {
 public:
  explicit stream_world(simulated_stage& stage) : stage_(stage) {
    std::vector<rank> reversed, even, odd;
    for (std::uint32_t r = 0; r < stage.size(); ++r) {
      reversed.insert(reversed.begin(), rank{r});
      (r % 2 == 0 ? even : odd).push_back(rank{r});
    }
    of_rank_.resize(stage.size());
    for (std::uint32_t r = 0; r < stage.size(); ++r)
      of_rank_[r].push_back(&stage.world(rank{r}));
    add(2, reversed);
    add(3, even);
    add(4, odd);
  }

  communicator& at(std::uint32_t world_rank, std::uint32_t index) {
    return *of_rank_[world_rank][index];
  }

 private:
  void add(std::uint32_t id, const std::vector<rank>& members) {
    auto made = stage_.make_communicator(communicator_id{id}, members, patience);
    BOOST_REQUIRE(made.has_value());
    for (std::size_t i = 0; i < members.size(); ++i) {
      of_rank_[to_index(members[i])].push_back((*made)[i].get());
      owned_.push_back(std::move((*made)[i]));
    }
  }

  simulated_stage& stage_;
  std::vector<std::vector<communicator*>> of_rank_;
  std::vector<std::unique_ptr<communicator>> owned_;
};

struct running_part {
  std::uint32_t world_rank;
  std::size_t index;
  std::unique_ptr<stream_part> part;
};

constexpr std::uint32_t nobody = 0xffff'ffffu;

/// `dead` waits for nothing any more.
bool all_done(const std::vector<running_part>& parts, std::uint32_t dead = nobody) {
  for (const auto& one : parts)
    for (const auto& work : one.part->works())
      if (one.world_rank != dead && !work->test()) return false;
  return true;
}

/// Starts a batch on one rank, as its trainer would.
void start(stream_world& world, std::uint32_t r, const stream_batch& batch,
           std::vector<running_part>& parts) {
  group all;
  if (batch.grouped) all.start();
  for (std::size_t i = 0; i < batch.operations.size(); ++i) {
    auto& on = world.at(r, batch.operations[i].communicator);
    auto part = std::make_unique<stream_part>(batch.operations[i], on.rank().value, on.size());
    const auto started = part->start(on, batch.grouped ? &all : nullptr);
    BOOST_REQUIRE_MESSAGE(started.has_value(), to_string(started ? failure{} : started.error()));
    parts.push_back({r, i, std::move(part)});
  }
  if (batch.grouped) BOOST_REQUIRE(all.end().has_value());
}

void play(std::uint64_t seed) {
  random_stream draw(seed);
  simulated_stage stage(draw_stage(seed, draw));
  BOOST_REQUIRE(stage.join_all(patience).has_value());
  stream_world world(stage);
  const auto batches =
      reference::draw_stream(draw.next(), {.communicator_count = 3, .batch_count = 3});
  for (const stream_batch& batch : batches) {
    std::vector<running_part> parts;
    for (std::uint32_t r = 0; r < stage.size(); ++r) {
      start(world, r, batch, parts);
      // Others may be far behind.
      if (draw.one_in(3)) stage.run_until([] { return false; }, std::chrono::microseconds(50));
    }
    const bool done = stage.run_until([&] { return all_done(parts); }, patience);
    for (const auto& one : parts) {
      const std::string wrong = done ? one.part->check() : std::string("not done");
      BOOST_TEST(wrong.empty(), "seed " << seed << ", " << stage.size() << " ranks, rank "
                                        << one.world_rank << ": "
                                        << describe(batch.operations[one.index]) << ": " << wrong);
    }
    if (!done) return;
  }
}

/// One rank dies among the operations of a batch.
void play_crash(std::uint64_t seed) {
  std::vector<running_part> parts;  // the victim's endpoint uses them until the stage is gone
  random_stream draw(seed);
  simulated_stage stage(draw_stage(seed, draw));
  BOOST_REQUIRE(stage.join_all(patience).has_value());
  stream_world world(stage);
  const auto batches =
      reference::draw_stream(draw.next(), {.communicator_count = 3, .batch_count = 1});
  for (std::uint32_t r = 0; r < stage.size(); ++r)
    start(world, r, batches[0], parts);
  stage.run_until([] { return false; }, std::chrono::microseconds(draw.below(120)));
  const auto victim = static_cast<std::uint32_t>(draw.below(stage.size()));
  stage.crash(rank{victim});
  BOOST_TEST_CONTEXT("seed " << seed << ", " << stage.size() << " ranks, victim " << victim) {
    BOOST_TEST(stage.run_until([&] { return all_done(parts, victim); }, std::chrono::seconds(3)));
    // Works that are done gave their buffers back: nobody writes to them any more.
    std::vector<std::vector<std::byte>> returned;
    for (const auto& one : parts)
      returned.push_back(one.part->memory());
    stage.run_until([] { return false; }, std::chrono::milliseconds(20));
    for (std::size_t i = 0; i < parts.size(); ++i)
      BOOST_TEST((parts[i].world_rank == victim || parts[i].part->memory() == returned[i]),
                 "rank " << parts[i].world_rank << ": written after the work was done");
    for (const auto& one : parts) {
      if (one.world_rank == victim) continue;
      for (const auto& work : one.part->works())
        BOOST_TEST((work->error().code() == errc::ok || work->error().code() == errc::peer_lost),
                   describe(batches[0].operations[one.index])
                       << " at rank " << one.world_rank << ": " << to_string(work->error()));
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_crash_among_random_operations_ends_all_of_them_in_time) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed)
    play_crash(seed);
}

BOOST_AUTO_TEST_CASE(random_operations_on_several_communicators_are_right_in_every_bit) {
  const auto& suite = boost::unit_test::framework::master_test_suite();
  const std::uint64_t first = suite.argc > 1 ? std::stoull(suite.argv[1]) : 1;
  const std::uint64_t count =
      suite.argc > 2 ? std::stoull(suite.argv[2]) : (suite.argc > 1 ? 1 : seed_count);
  for (std::uint64_t seed = first; seed < first + count; ++seed)
    play(seed);
}

}  // namespace troupe::actors
