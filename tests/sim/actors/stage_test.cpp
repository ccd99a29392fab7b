#define BOOST_TEST_MODULE stage_sim
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <vector>

#include "actors/simulation/simulated_stage.hpp"
#include "runtime/simulation.hpp"

namespace troupe::actors {
namespace {

stage_options small_stage(std::uint32_t ranks, std::uint64_t seed) {
  stage_options out;
  out.rank_count = ranks;
  out.seed = seed;
  out.options.transport.eager_bytes = 1024;
  out.options.transport.eager_slot_count = 4;
  out.options.transport.window_segment_count = 64;
  out.options.transport.transfer_count = 256;
  out.options.transport.parked_bytes = 16 * 1024;
  return out;
}

constexpr duration patience = std::chrono::seconds(60);

std::vector<work_handle> all_reduce_everywhere(simulated_stage& stage,
                                               std::vector<std::vector<float>>& data) {
  std::vector<work_handle> works;
  for (std::uint32_t r = 0; r < stage.size(); ++r) {
    auto work = stage.world(rank{r}).all_reduce(
        {.send = data[r].data(), .receive = data[r].data(), .count = data[r].size()});
    BOOST_REQUIRE(work.has_value());
    works.push_back(*work);
  }
  return works;
}

bool all_done(const std::vector<work_handle>& works) {
  for (const auto& work : works)
    if (!work->test()) return false;
  return true;
}

BOOST_AUTO_TEST_CASE(sixty_four_ranks_reduce_and_repeat_exactly) {
  for (const std::uint64_t count : {64ull, 100'000ull}) {
    simulation_options options;
    options.rank_count = 64;
    options.operation.count = count;
    options.seed = 7;
    const auto first = simulate(options);
    const auto second = simulate(options);
    BOOST_REQUIRE(first.has_value());
    BOOST_REQUIRE(second.has_value());
    BOOST_TEST(first->wrong_elements == 0);
    BOOST_TEST(first->trace_hash == second->trace_hash);
    options.seed = 8;
    const auto other = simulate(options);
    BOOST_REQUIRE(other.has_value());
    BOOST_TEST(other->wrong_elements == 0);
    BOOST_TEST(other->trace_hash != first->trace_hash);
  }
}

BOOST_AUTO_TEST_CASE(every_collective_is_right_under_many_orders) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    random_stream draw(seed);
    simulation_options options;
    options.seed = seed;
    options.rank_count = static_cast<std::uint32_t>(draw.between(1, 9));
    const operation_kind kinds[] = {operation_kind::all_reduce,     operation_kind::all_gather,
                                    operation_kind::reduce_scatter, operation_kind::broadcast,
                                    operation_kind::barrier,        operation_kind::reduce,
                                    operation_kind::gather,         operation_kind::scatter,
                                    operation_kind::all_to_all,     operation_kind::all_to_all_v};
    options.operation.kind = kinds[draw.below(std::size(kinds))];
    options.operation.count = draw.one_in(4) ? draw.below(8) : draw.below(60'000);
    if (options.operation.kind == operation_kind::barrier) options.operation.count = 0;
    options.operation.root = static_cast<std::uint32_t>(draw.below(options.rank_count));
    const bool rooted = options.operation.kind == operation_kind::broadcast ||
                        options.operation.kind == operation_kind::reduce ||
                        options.operation.kind == operation_kind::gather ||
                        options.operation.kind == operation_kind::scatter;
    if (!rooted) options.operation.root = 0;
    options.repetition_count = static_cast<std::uint32_t>(draw.between(1, 3));
    const auto report = simulate(options);
    BOOST_TEST_CONTEXT("seed " << seed << ", " << to_string(options.operation) << ", "
                               << options.rank_count << " ranks") {
      BOOST_REQUIRE_MESSAGE(report.has_value(), (report ? "" : to_string(report.error())));
      BOOST_TEST(report->wrong_elements == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(messages_are_a_constant_an_operation_and_a_constant_a_transfer) {
  // Two ranks, small: one put and one accept a rank.
  simulated_stage stage(small_stage(2, 3));
  BOOST_REQUIRE(stage.join_all(patience).has_value());
  std::vector<std::vector<float>> data(2, std::vector<float>(16, 1.0f));
  auto once = [&] {
    const auto works = all_reduce_everywhere(stage, data);
    BOOST_REQUIRE(stage.run_until([&] { return all_done(works); }, patience));
    stage.run_until([] { return false; }, std::chrono::milliseconds(5));
  };
  once();  // connects
  const auto& counters = stage.counters(rank{0});
  const auto rank_before = counters.messages_of(actor_kind::rank);
  const auto collective_before = counters.messages_of(actor_kind::collective);
  const auto link_before = counters.messages_of(actor_kind::qp_group);
  const auto dqplb_before = counters.messages_of(actor_kind::dqplb);
  for (int i = 0; i < 10; ++i)
    once();
  BOOST_TEST(counters.messages_of(actor_kind::rank) - rank_before == 20u);
  BOOST_TEST(counters.messages_of(actor_kind::collective) - collective_before == 30u);
  BOOST_TEST(counters.messages_of(actor_kind::qp_group) - link_before == 10u);
  BOOST_TEST(counters.messages_of(actor_kind::dqplb) - dqplb_before == 0u);
}

BOOST_AUTO_TEST_CASE(
    an_all_gather_along_a_binary_tree_takes_as_much_of_a_rank_however_many_there_are) {
  struct most {
    std::uint64_t messages = 0;
    std::uint64_t links = 0;
  };
  const auto most_of = [](std::uint32_t ranks) {
    simulated_stage stage(small_stage(ranks, 11));
    BOOST_REQUIRE(stage.join_all(patience).has_value());
    std::vector<std::uint32_t> in(1, 5), out(std::size_t{ranks} * ranks);
    std::vector<work_handle> works;
    for (std::uint32_t r = 0; r < ranks; ++r) {
      all_gather_arguments how{.send = in.data(),
                               .receive = out.data() + std::size_t{r} * ranks,
                               .count = 1,
                               .type = data_type::uint32};
      how.options.algorithm = algorithm::binary_tree;
      works.push_back(*stage.world(rank{r}).all_gather(how));
    }
    BOOST_REQUIRE(stage.run_until([&] { return all_done(works); }, patience));
    BOOST_TEST(std::count(out.begin(), out.end(), 5u) == static_cast<std::ptrdiff_t>(out.size()));
    most found;
    for (std::uint32_t r = 0; r < ranks; ++r) {
      found.messages =
          std::max(found.messages, stage.counters(rank{r}).messages_of(actor_kind::collective));
      found.links = std::max(found.links, stage.context(rank{r}).counters.links_open.get());
    }
    return found;
  };
  const auto few = most_of(7), many = most_of(128);
  BOOST_TEST(many.messages == few.messages);
  BOOST_TEST(few.links == 3u);
  BOOST_TEST(many.links == 3u);
}

BOOST_AUTO_TEST_CASE(messages_do_not_grow_with_segments) {
  auto messages = [](std::uint64_t segment_bytes) {
    auto options = small_stage(2, 5);
    options.options.transport.segment_bytes = segment_bytes;
    simulated_stage stage(options);
    BOOST_REQUIRE(stage.join_all(patience).has_value());
    std::vector<std::vector<float>> data(2, std::vector<float>(1 << 20, 1.0f));
    const auto works = all_reduce_everywhere(stage, data);
    BOOST_REQUIRE(stage.run_until([&] { return all_done(works); }, patience));
    const auto& c = stage.counters(rank{0});
    return c.messages_of(actor_kind::collective) + c.messages_of(actor_kind::rank);
  };
  BOOST_TEST(messages(1 << 18) == messages(1 << 13));
}

BOOST_AUTO_TEST_CASE(a_crash_ends_every_operation_with_an_error_that_names_the_peer) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const auto ranks = static_cast<std::uint32_t>(2 + seed % 5);
    simulated_stage stage(small_stage(ranks, seed));
    BOOST_REQUIRE(stage.join_all(patience).has_value());
    std::vector<std::vector<float>> data(ranks, std::vector<float>(50'000, 1.0f));
    const auto works = all_reduce_everywhere(stage, data);
    random_stream draw(seed);
    stage.run_until([] { return false; }, std::chrono::microseconds(draw.below(150)));
    const rank victim{static_cast<std::uint32_t>(draw.below(ranks))};
    stage.crash(victim);
    BOOST_TEST_CONTEXT("seed " << seed << ", " << ranks << " ranks, victim " << victim.value) {
      const auto began = stage.now();
      BOOST_TEST(stage.run_until(
          [&] {
            for (std::uint32_t r = 0; r < ranks; ++r)
              if (r != victim.value && !works[r]->test()) return false;
            return true;
          },
          std::chrono::seconds(2)));
      BOOST_TEST((stage.now() - began < std::chrono::seconds(2)));
      for (std::uint32_t r = 0; r < ranks; ++r) {
        if (r == victim.value || works[r]->error().code() == errc::ok) continue;
        BOOST_TEST((works[r]->error().code() == errc::peer_lost));
        BOOST_TEST(works[r]->error().message.find("rank " + std::to_string(victim.value)) !=
                   std::string::npos);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(different_operations_end_in_both_signatures_on_every_rank) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const auto ranks = static_cast<std::uint32_t>(2 + seed % 4);
    simulated_stage stage(small_stage(ranks, seed));
    BOOST_REQUIRE(stage.join_all(patience).has_value());
    std::vector<std::vector<float>> data(ranks, std::vector<float>(4000, 1.0f));
    std::vector<work_handle> works;
    random_stream draw(seed);
    const auto odd = draw.below(ranks);
    const auto way = draw.below(6);
    for (std::uint32_t r = 0; r < ranks; ++r) {
      all_reduce_arguments call{.send = data[r].data(), .receive = data[r].data(), .count = 1000};
      outcome<work_handle> work;
      if (r != odd) {
        work = stage.world(rank{r}).all_reduce(call);
      } else if (way == 0) {
        call.count = 999;
        work = stage.world(rank{r}).all_reduce(call);
      } else if (way == 1) {
        call.op = reduction::maximum;
        work = stage.world(rank{r}).all_reduce(call);
      } else if (way == 2) {
        call.type = data_type::int32;
        work = stage.world(rank{r}).all_reduce(call);
      } else if (way == 3) {
        call.count = 0;  // ends at once: there is nothing to move for this rank
        work = stage.world(rank{r}).all_reduce(call);
      } else if (way == 4) {
        stage.run_until([] { return false; }, std::chrono::seconds(1));  // the others wait already
        call.count = 0;
        work = stage.world(rank{r}).all_reduce(call);
      } else {
        work = stage.world(rank{r}).broadcast({.buffer = data[r].data(), .count = 10});
      }
      BOOST_REQUIRE(work.has_value());
      works.push_back(*work);
    }
    BOOST_TEST_CONTEXT("seed " << seed << ", " << ranks << " ranks, rank " << odd << ", way "
                               << way) {
      BOOST_TEST(stage.run_until([&] { return all_done(works); }, std::chrono::seconds(5)));
      for (const auto& work : works) {
        if (work->error().code() == errc::ok) continue;  // a root, or a count of 0, needs nobody
        BOOST_TEST((work->error().code() == errc::mismatch));
        BOOST_TEST(work->error().message.find("all_reduce(count 1000, float32, sum)") !=
                   std::string::npos);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_rank_that_never_calls_is_named_when_the_operation_times_out) {
  simulated_stage stage(small_stage(3, 11));
  BOOST_REQUIRE(stage.join_all(patience).has_value());
  std::vector<float> data(16, 1.0f);
  operation_options one_second;
  one_second.timeout = std::chrono::seconds(1);
  std::vector<work_handle> works;
  for (std::uint32_t r = 0; r < 2; ++r)
    works.push_back(*stage.world(rank{r}).all_reduce(
        {.send = data.data(), .receive = data.data(), .count = 16, .options = one_second}));
  BOOST_TEST(stage.run_until([&] { return all_done(works); }, std::chrono::seconds(3)));
  for (const auto& work : works) {
    BOOST_TEST((work->error().code() == errc::timed_out));
    BOOST_TEST(work->error().message.find("timed out after 1000 ms") != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(an_abort_ends_everything_everywhere_within_a_second) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    simulated_stage stage(small_stage(4, seed));
    BOOST_REQUIRE(stage.join_all(patience).has_value());
    std::vector<std::vector<float>> data(4, std::vector<float>(200'000, 1.0f));
    const auto works = all_reduce_everywhere(stage, data);
    random_stream draw(seed);
    stage.run_until([] { return false; }, std::chrono::microseconds(draw.below(400)));
    stage.world(rank{2}).abort();
    stage.world(rank{2}).abort();
    BOOST_TEST_CONTEXT("seed " << seed) {
      BOOST_TEST(stage.run_until([&] { return all_done(works); }, std::chrono::seconds(1)));
      BOOST_TEST(
          (works[2]->error().code() == errc::ok || works[2]->error().code() == errc::aborted));
      const auto later = stage.world(rank{2}).barrier();
      BOOST_REQUIRE(!later.has_value());
      BOOST_TEST((later.error().code() == errc::aborted));
    }
  }
}

}  // namespace
}  // namespace troupe::actors
