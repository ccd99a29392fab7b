#define BOOST_TEST_MODULE supervision_sim
#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

#include "actors/simulation/simulated_stage.hpp"

// One case a row of the supervision table in docs/architecture.md.

namespace troupe::actors {
namespace {

constexpr duration patience = std::chrono::seconds(30);

struct troubled_job {
  explicit troubled_job(std::uint64_t seed) : stage(options(seed)), data(3) {
    BOOST_REQUIRE(stage.join_all(patience).has_value());
    for (auto& d : data)
      d.assign(40'000, 1.0f);
  }

  static stage_options options(std::uint64_t seed) {
    stage_options out;
    out.rank_count = 3;
    out.seed = seed;
    out.options.collective.timeout = std::chrono::seconds(5);
    return out;
  }

  std::vector<work_handle> start() {
    std::vector<work_handle> works;
    for (std::uint32_t r = 0; r < 3; ++r) {
      auto work = stage.world(rank{r}).all_reduce(
          {.send = data[r].data(), .receive = data[r].data(), .count = data[r].size()});
      BOOST_REQUIRE(work.has_value());
      works.push_back(*work);
    }
    return works;
  }

  bool run(const std::vector<work_handle>& works) {
    return stage.run_until(
        [&] {
          for (const auto& work : works)
            if (!work->test()) return false;
          return true;
        },
        patience);
  }

  simulated_stage stage;
  std::vector<std::vector<float>> data;
};

void expect_failure_everywhere(actor_kind broken) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    troubled_job job(seed);
    BOOST_REQUIRE(job.run(job.start()));  // connects
    const auto works = job.start();
    job.stage.context(rank{1}).break_next(broken);
    BOOST_TEST_CONTEXT(to_string(broken) << " breaks, seed " << seed) {
      BOOST_TEST(job.run(works));
      BOOST_TEST((works[1]->error().code() != errc::ok));
      for (const auto& work : works)
        BOOST_TEST((work->error().code() != errc::timed_out));
      const auto later = job.stage.world(rank{1}).barrier();
      BOOST_REQUIRE(later.has_value());
      BOOST_TEST(job.run({*later}));
      BOOST_TEST(((*later)->error().code() != errc::ok));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_broken_collective_fails_its_operation_on_every_rank) {
  expect_failure_everywhere(actor_kind::collective);
}

BOOST_AUTO_TEST_CASE(a_broken_rank_restarts_with_its_communicator_failed) {
  expect_failure_everywhere(actor_kind::rank);
}

BOOST_AUTO_TEST_CASE(a_broken_link_is_a_lost_peer) {
  expect_failure_everywhere(actor_kind::qp_group);
}

BOOST_AUTO_TEST_CASE(a_broken_watchdog_is_replaced_and_watches_on) {
  troubled_job job(5);
  BOOST_REQUIRE(job.run(job.start()));
  job.stage.context(rank{0}).break_next(actor_kind::watchdog);
  std::vector<float> alone(8, 1.0f);
  operation_options soon;
  soon.timeout = std::chrono::seconds(2);
  // Nobody else calls: only a watchdog that lives can end it.
  const auto stuck = job.stage.world(rank{0}).all_reduce(
      {.send = alone.data(), .receive = alone.data(), .count = 8, .options = soon});
  BOOST_REQUIRE(stuck.has_value());
  BOOST_TEST(job.run({*stuck}));
  BOOST_TEST(((*stuck)->error().code() == errc::timed_out));
  BOOST_TEST(
      job.stage.counters(rank{0}).restarts[static_cast<std::size_t>(actor_kind::watchdog)].get() ==
      1u);
}

BOOST_AUTO_TEST_CASE(a_broken_collector_is_replaced_and_samples_on) {
  auto options = troubled_job::options(3);
  options.rank_count = 1;
  options.options.metrics.listen = "sampled, not served: a stage has no exposer";
  simulated_stage stage(options);
  BOOST_REQUIRE(stage.join_all(patience).has_value());
  const auto& counters = stage.counters(rank{0});
  stage.run_until([&] { return counters.messages_of(actor_kind::collector) >= 2; }, patience);
  stage.context(rank{0}).break_next(actor_kind::collector);
  BOOST_TEST(stage.run_until(
      [&] { return counters.restarts[static_cast<std::size_t>(actor_kind::collector)].get() == 1; },
      patience));
  const auto then = counters.messages_of(actor_kind::collector);
  BOOST_TEST(stage.run_until(
      [&] { return counters.messages_of(actor_kind::collector) >= then + 2; }, patience));
}

BOOST_AUTO_TEST_CASE(a_broken_dqplb_is_replaced_and_operations_go_on) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    troubled_job job(seed);
    BOOST_REQUIRE(job.run(job.start()));
    job.stage.context(rank{0}).break_next(actor_kind::dqplb);
    // Idle links give their leases back, and with that it breaks.
    job.stage.run_until([] { return false; }, std::chrono::milliseconds(50));
    const auto& restarts = job.stage.counters(rank{0}).restarts;
    BOOST_TEST(restarts[static_cast<std::size_t>(actor_kind::dqplb)].get() == 1u);
    for (int i = 0; i < 3; ++i) {
      const auto works = job.start();
      BOOST_TEST(job.run(works));
      for (const auto& work : works)
        BOOST_TEST((work->error().code() == errc::ok));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_broken_bootstrap_fails_the_communicators_of_its_endpoint) {
  troubled_job job(7);
  BOOST_REQUIRE(job.run(job.start()));
  job.stage.context(rank{2}).break_next(actor_kind::bootstrap);
  post(nullptr, job.stage.context(rank{2}).bootstrap, death_seen{rank{1}});
  job.stage.run_until([] { return false; }, std::chrono::milliseconds(50));
  const auto later = job.stage.world(rank{2}).barrier();
  BOOST_REQUIRE(later.has_value());
  BOOST_TEST(job.run({*later}));
  BOOST_TEST(((*later)->error().code() == errc::internal_failure));
}

}  // namespace
}  // namespace troupe::actors
