#define BOOST_TEST_MODULE group
#include "runtime/group.hpp"

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "tests/actors/local_job.hpp"

namespace troupe::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

void require_joined(const local_job& job) {
  for (std::size_t r = 0; r < job.size(); ++r)
    BOOST_REQUIRE_MESSAGE(job.ranks[r], "rank " << r << ": " << to_string(job.failures[r]));
}

rank rank_at(std::size_t r) {
  return rank{static_cast<std::uint32_t>(r)};
}

BOOST_AUTO_TEST_CASE(a_ring_of_sends_and_receives_in_any_order_does_not_deadlock) {
  constexpr std::size_t ranks = 4;
  auto job = join_locally(ranks);
  require_joined(job);
  std::atomic<int> wrong{0};
  on_all_ranks(job, [&](std::size_t r) {
    for (const std::uint64_t n : {1ull, 5000ull, 200'000ull}) {
      std::vector<float> out(n, static_cast<float>(r)), in(n, -1.0f);
      group g;
      g.start();
      const operation_options grouped{.group = &g};
      const auto next = rank_at((r + 1) % ranks), before = rank_at((r + ranks - 1) % ranks);
      // Half of the ranks send first, the others receive first.
      for (int i = 0; i < 2; ++i) {
        if ((i == 0) == (r % 2 == 0))
          wrong +=
              !job[r].send({.buffer = out.data(), .count = n, .peer = next, .options = grouped});
        else
          wrong += !job[r].receive(
              {.buffer = in.data(), .count = n, .peer = before, .options = grouped});
      }
      wrong += g.works().size() != 2;
      wrong += !g.end();
      wrong += !g.wait(seconds(20));
      wrong += in != std::vector<float>(n, static_cast<float>((r + ranks - 1) % ranks));
    }
  });
  BOOST_TEST(wrong.load() == 0);
}

BOOST_AUTO_TEST_CASE(an_all_to_all_of_sends_gives_what_all_to_all_gives) {
  constexpr std::size_t ranks = 4, n = 3000;
  auto job = join_locally(ranks);
  require_joined(job);
  std::atomic<int> wrong{0};
  on_all_ranks(job, [&](std::size_t r) {
    std::vector<std::int32_t> out(ranks * n), in(ranks * n), expected(ranks * n);
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = static_cast<std::int32_t>(r * 1'000'000 + i);
    group g;
    g.start();
    const operation_options grouped{.group = &g};
    for (std::size_t p = 0; p < ranks; ++p) {  // oneself included
      wrong += !job[r].receive({.buffer = in.data() + p * n,
                                .count = n,
                                .type = data_type::int32,
                                .peer = rank_at(p),
                                .options = grouped});
      wrong += !job[r].send({.buffer = out.data() + p * n,
                             .count = n,
                             .type = data_type::int32,
                             .peer = rank_at(p),
                             .options = grouped});
    }
    wrong += !g.end();
    wrong += !g.wait(seconds(20));
    const auto same = job[r].all_to_all(
        {.send = out.data(), .receive = expected.data(), .count = n, .type = data_type::int32});
    wrong += !same || !(*same)->wait(seconds(20));
    wrong += in != expected;
  });
  BOOST_TEST(wrong.load() == 0);
}

BOOST_AUTO_TEST_CASE(one_group_may_hold_operations_of_two_communicators_in_any_order) {
  auto job = join_locally(3);
  require_joined(job);
  std::atomic<int> wrong{0};
  on_all_ranks(job, [&](std::size_t r) {
    auto other = job[r].split({.colour = 0, .key = -static_cast<std::int32_t>(r)});
    if (!other) {
      ++wrong;
      return;
    }
    for (int round = 0; round < 5; ++round) {
      std::vector<float> a(1000, 1.0f), b(1000, 2.0f);
      group g;
      g.start();
      const operation_options grouped{.group = &g};
      auto first = [&] {
        wrong += !job[r].all_reduce(
            {.send = a.data(), .receive = a.data(), .count = 1000, .options = grouped});
      };
      auto second = [&] {
        wrong += !(*other)->all_reduce(
            {.send = b.data(), .receive = b.data(), .count = 1000, .options = grouped});
      };
      // Ranks disagree about the order of the communicators, never within one.
      if (r == 1) {
        second();
        first();
      } else {
        first();
        second();
      }
      wrong += !g.end();
      wrong += !g.wait(seconds(20));
      wrong += a != std::vector<float>(1000, 3.0f) || b != std::vector<float>(1000, 6.0f);
    }
  });
  BOOST_TEST(wrong.load() == 0);
}

BOOST_AUTO_TEST_CASE(nothing_is_launched_before_the_outermost_end) {
  auto job = join_locally(1);
  require_joined(job);
  std::vector<float> in(10, 3.0f), out(10, 0.0f);
  group g;
  g.start();
  g.start();
  const auto work = job[0].all_reduce(
      {.send = in.data(), .receive = out.data(), .count = 10, .options = {.group = &g}});
  BOOST_REQUIRE(work.has_value());
  BOOST_TEST(g.depth() == 2u);
  BOOST_TEST(g.end().has_value());
  std::this_thread::sleep_for(milliseconds(50));
  BOOST_TEST(!(*work)->test());
  BOOST_TEST(out[0] == 0.0f);
  const auto early = (*work)->wait(seconds(1));
  BOOST_REQUIRE(!early.has_value());
  BOOST_TEST((early.error().code() == errc::bad_argument));
  BOOST_TEST((g.wait(seconds(1)).error().code() == errc::bad_argument));
  BOOST_TEST(g.end().has_value());
  BOOST_TEST(g.wait(seconds(5)).has_value());
  BOOST_TEST(out[0] == 3.0f);
  BOOST_TEST((*work)->test());
}

BOOST_AUTO_TEST_CASE(an_end_without_a_start_is_an_error_and_changes_nothing) {
  group g;
  const auto ended = g.end();
  BOOST_REQUIRE(!ended.has_value());
  BOOST_TEST((ended.error().code() == errc::bad_argument));
  BOOST_TEST(ended.error().message.find("without a start") != std::string::npos);
  g.start();
  BOOST_TEST(g.end().has_value());
  BOOST_TEST((g.end().error().code() == errc::bad_argument));
}

BOOST_AUTO_TEST_CASE(a_call_that_fails_keeps_the_whole_group_from_being_launched) {
  auto job = join_locally(1);
  require_joined(job);
  std::vector<float> in(10, 3.0f), out(10, 0.0f);
  group g;
  g.start();
  const operation_options grouped{.group = &g};
  const auto fine = job[0].all_reduce(
      {.send = in.data(), .receive = out.data(), .count = 10, .options = grouped});
  const auto bad =
      job[0].broadcast({.buffer = in.data(), .count = 10, .root = rank{7}, .options = grouped});
  const auto worse = job[0].split({.colour = std::nullopt, .options = grouped});
  BOOST_REQUIRE(fine.has_value());
  BOOST_REQUIRE(!bad.has_value());
  BOOST_REQUIRE(!worse.has_value());
  BOOST_TEST((worse.error().code() == errc::bad_argument));
  const auto ended = g.end();
  BOOST_REQUIRE(!ended.has_value());
  BOOST_TEST(ended.error().message == bad.error().message, "the first failure");
  BOOST_TEST((*fine)->test());
  BOOST_TEST(((*fine)->error().code() == errc::aborted));
  BOOST_TEST((*fine)->error().message.find("root") != std::string::npos);
  BOOST_TEST(out[0] == 0.0f);
  // The communicator is as it was, and so is the group.
  g.start();
  const auto again = job[0].all_reduce(
      {.send = in.data(), .receive = out.data(), .count = 10, .options = grouped});
  BOOST_TEST(again.has_value());
  BOOST_TEST(g.end().has_value());
  BOOST_TEST(g.wait(seconds(5)).has_value());
  BOOST_TEST(out[0] == 3.0f);
}

BOOST_AUTO_TEST_CASE(a_group_of_more_than_may_be_outstanding_is_refused_whole) {
  auto job = join_locally(1, {{"collective.outstanding_operation_count", "4"}});
  require_joined(job);
  group g;
  g.start();
  for (int i = 0; i < 4; ++i)
    BOOST_TEST(job[0].barrier({.group = &g}).has_value());
  const auto fifth = job[0].barrier({.group = &g});
  BOOST_REQUIRE(!fifth.has_value());
  BOOST_TEST((fifth.error().code() == errc::queue_full));
  BOOST_TEST((g.end().error().code() == errc::queue_full));
  for (const auto& work : g.works())
    BOOST_TEST((work->error().code() == errc::aborted));
  BOOST_TEST((*job[0].barrier())->wait(seconds(5)).has_value(), "the room is there again");
}

BOOST_AUTO_TEST_CASE(an_operation_that_fails_after_its_launch_is_what_wait_reports) {
  auto job = join_locally(2);
  require_joined(job);
  std::vector<float> in(10), out(10);
  group g;
  g.start();
  const operation_options grouped{.timeout = milliseconds(300), .group = &g};
  const auto stuck =
      job[0].receive({.buffer = in.data(), .count = 10, .peer = rank{1}, .options = grouped});
  BOOST_REQUIRE(stuck.has_value());
  BOOST_TEST(g.end().has_value());
  const auto waited = g.wait(seconds(5));
  BOOST_REQUIRE(!waited.has_value());
  BOOST_TEST((waited.error().code() == errc::timed_out));
  BOOST_TEST(waited.error().message == (*stuck)->error().message);
}

BOOST_AUTO_TEST_CASE(a_group_that_never_ends_drops_its_operations) {
  auto job = join_locally(1);
  require_joined(job);
  work_handle left;
  {
    group g;
    g.start();
    left = *job[0].barrier({.group = &g});
  }
  BOOST_TEST(left->test());
  BOOST_TEST((left->error().code() == errc::aborted));
}

BOOST_AUTO_TEST_CASE(a_group_may_outlive_a_communicator_whose_operations_then_end) {
  auto job = join_locally(1);
  require_joined(job);
  auto part = job[0].split({.colour = 1});
  BOOST_REQUIRE(part.has_value());
  group g;
  g.start();
  const auto work = *(*part)->barrier({.group = &g});
  part->reset();
  BOOST_TEST(g.end().has_value());
  BOOST_TEST(work->test());
  BOOST_TEST((work->error().code() == errc::aborted));
}

BOOST_AUTO_TEST_CASE(groups_of_different_threads_do_not_notice_each_other) {
  auto job = join_locally(2);
  require_joined(job);
  std::atomic<int> wrong{0};
  on_all_ranks(job, [&](std::size_t r) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, r] {
        for (int i = 0; i < 20; ++i) {
          group g;
          g.start();
          wrong += !job[r].barrier({.group = &g});
          wrong += !job[r].barrier({.group = &g});
          wrong += !g.end();
          wrong += !g.wait(seconds(20));
        }
      });
    for (auto& t : threads)
      t.join();
  });
  BOOST_TEST(wrong.load() == 0);
}

}  // namespace
}  // namespace troupe::test
