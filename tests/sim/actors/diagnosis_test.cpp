#define BOOST_TEST_MODULE diagnosis_sim
#include "runtime/diagnosis.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "actors/simulation/simulated_stage.hpp"

// Real actors of a job in which something goes wrong, under virtual time: what their dumps say, and
// whom the analyser blames.

namespace troupe::actors {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t size = 6;
constexpr std::uint64_t seed_count = 20;

struct watched_job {
  explicit watched_job(std::uint64_t seed) : stage(options(seed)), data(size) {
    BOOST_REQUIRE(stage.join_all(30s).has_value());
    for (auto& d : data)
      d.assign(40'000, 1.0f);
    std::vector<rank> everybody;
    for (std::uint32_t r = 0; r < size; ++r)
      everybody.push_back(rank{r});
    auto made = stage.make_communicator({2}, everybody, 30s);
    BOOST_REQUIRE(made.has_value());
    other = std::move(*made);
    for (std::uint32_t r = 0; r < size; ++r)
      call(r);
    BOOST_REQUIRE(stage.run_until([&] { return is_quiet(); }, 30s));
  }

  static stage_options options(std::uint64_t seed) {
    stage_options out;
    out.rank_count = size;
    out.seed = seed;
    out.options.collective.timeout = 60s;
    out.options.transport.silence_timeout = 2s;
    out.fabric.detection_delay = 20s;  // silence has to do
    return out;
  }

  void call(std::uint32_t r, std::uint64_t count = 40'000) { call(stage.world(rank{r}), r, count); }

  void call(communicator& on, std::uint32_t r, std::uint64_t count) {
    auto work = on.all_reduce({.send = data[r].data(), .receive = data[r].data(), .count = count});
    BOOST_REQUIRE(work.has_value());
    works.push_back(*work);
  }

  bool is_quiet() const {
    return std::all_of(works.begin(), works.end(), [](const auto& w) { return w->test(); });
  }

  void pass(duration time) {
    stage.run_until([] { return false; }, time);
  }

  diagnosis judge(std::vector<std::uint32_t> without = {}, const diagnosis_options& how = {}) {
    std::vector<rank_dump> dumps;
    for (std::uint32_t r = 0; r < size; ++r)
      if (std::find(without.begin(), without.end(), r) == without.end())
        dumps.push_back(stage.world(rank{r}).dump());
    return diagnose(dumps, how);
  }

  simulated_stage stage;
  std::vector<std::vector<float>> data;
  std::vector<std::unique_ptr<communicator>> other;
  std::vector<work_handle> works;
};

void check(const diagnosis& found, verdict_kind verdict, std::vector<rank> culprits) {
  BOOST_TEST((found.verdict == verdict), to_string(found.verdict) << ": " << found.sentence);
  BOOST_TEST((found.culprits == culprits), found.sentence);
}

template <class Case>
void for_seeds(Case one) {
  for (std::uint64_t seed = 1; seed <= seed_count; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      watched_job job(seed);
      one(job, static_cast<std::uint32_t>(seed % size));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_job_that_gets_on_is_not_accused) {
  for_seeds([](watched_job& job, std::uint32_t) {
    for (int i = 0; i < 20; ++i)
      for (std::uint32_t r = 0; r < size; ++r)
        job.call(r);
    for (int i = 0; i < 20; ++i) {
      job.pass(100us);
      check(job.judge(), verdict_kind::all_good, {});
    }
    BOOST_TEST(job.stage.run_until([&] { return job.is_quiet(); }, 30s));
    check(job.judge(), verdict_kind::all_good, {});
  });
}

BOOST_AUTO_TEST_CASE(a_rank_that_never_joins_is_named) {
  for_seeds([](watched_job& job, std::uint32_t victim) {
    for (std::uint32_t r = 0; r < size; ++r)
      if (r != victim) job.call(r);
    job.pass(5s);
    check(job.judge(), verdict_kind::never_joined, {rank{victim}});
    // Some rank's record names the one it waits for.
    bool named = false;
    for (std::uint32_t r = 0; r < size; ++r)
      for (const auto& record : job.stage.world(rank{r}).dump().operations)
        for (const auto peer : record.named_waits())
          named = named || peer == rank{victim};
    BOOST_TEST(named);
  });
}

BOOST_AUTO_TEST_CASE(another_count_is_named) {
  for_seeds([](watched_job& job, std::uint32_t victim) {
    for (std::uint32_t r = 0; r < size; ++r)
      job.call(r, r == victim ? 39'999 : 40'000);
    job.pass(5s);
    check(job.judge(), verdict_kind::mismatched_call, {rank{victim}});
  });
}

BOOST_AUTO_TEST_CASE(another_count_is_named_also_where_others_called_after_the_failure) {
  for_seeds([](watched_job& job, std::uint32_t victim) {
    const auto early = (victim + 1) % size;
    job.call(victim, 39'999);
    job.call(early);
    job.pass(2s);
    for (std::uint32_t r = 0; r < size; ++r)
      if (r != victim && r != early) job.call(r);
    // Refused; and so is whatever comes later, which is not compared.
    for (std::uint32_t r = 0; r < size; ++r)
      job.call(r, 1000 + r);
    job.pass(2s);
    check(job.judge(), verdict_kind::mismatched_call, {rank{victim}});
  });
}

BOOST_AUTO_TEST_CASE(communicators_in_another_order_are_a_deadlock) {
  for_seeds([](watched_job& job, std::uint32_t victim) {
    for (std::uint32_t r = 0; r < size; ++r)
      job.call(r == victim ? *job.other[r] : job.stage.world(rank{r}), r, 40'000);
    job.pass(5s);
    check(job.judge(), verdict_kind::communicator_deadlock, {rank{victim}});
  });
}

BOOST_AUTO_TEST_CASE(a_process_that_ends_is_dead_and_a_host_that_vanishes_is_silent) {
  for_seeds([](watched_job& job, std::uint32_t victim) {
    for (std::uint32_t r = 0; r < size; ++r)
      job.call(r);
    job.stage.crash(rank{victim});
    job.pass(8s);
    check(job.judge({victim}), verdict_kind::process_dead, {rank{victim}});
  });
  for_seeds([](watched_job& job, std::uint32_t victim) {
    for (std::uint32_t r = 0; r < size; ++r)
      job.call(r);
    job.stage.crash(rank{victim}, net::crash_kind::host);
    job.pass(8s);
    check(job.judge({victim}), verdict_kind::rank_silent, {rank{victim}});
  });
}

BOOST_AUTO_TEST_CASE(a_rank_that_is_late_with_every_call_is_slow) {
  for_seeds([](watched_job& job, std::uint32_t victim) {
    for (int i = 0; i < 12; ++i) {
      for (std::uint32_t r = 0; r < size; ++r)
        if (r != victim) job.call(r);
      job.pass(5ms);
      job.call(victim);
      BOOST_REQUIRE(job.stage.run_until([&] { return job.is_quiet(); }, 30s));
    }
    check(job.judge(), verdict_kind::slow_rank, {rank{victim}});
  });
}

BOOST_AUTO_TEST_CASE(a_job_that_calls_nothing_is_stuck_outside) {
  watched_job job(1);
  job.pass(90s);
  check(job.judge(), verdict_kind::stuck_outside, {});
}

BOOST_AUTO_TEST_CASE(the_same_seed_gives_the_same_dumps) {
  const auto waits = [](std::uint64_t seed) {
    watched_job job(seed);
    for (std::uint32_t r = 1; r < size; ++r)
      job.call(r);
    job.pass(3s);
    std::vector<std::int64_t> out;
    for (std::uint32_t r = 0; r < size; ++r)
      for (const auto& record : job.stage.world(rank{r}).dump().operations)
        out.push_back(record.waited_for_peers.count());
    return out;
  };
  BOOST_TEST(waits(7) == waits(7));
}

}  // namespace
}  // namespace troupe::actors
