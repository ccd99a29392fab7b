#define BOOST_TEST_MODULE tolerant_sim
#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <string>
#include <string_view>

#include "runtime/mark.hpp"
#include "runtime/random.hpp"
#include "tests/sim/actors/tolerant_job.hpp"

using namespace troupe;
using namespace troupe::sim;

namespace {

constexpr std::size_t some = 30'000;  // several chunks for each of four ranks

std::uint64_t seed_count(std::uint64_t otherwise) {
  const char* text = std::getenv("TROUPE_SIM_SEED_COUNT");
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::vector<rank> names(std::initializer_list<std::uint32_t> values) {
  std::vector<rank> out;
  for (const auto value : values)
    out.push_back(rank{value});
  return out;
}

duration microseconds(std::uint64_t count) {
  return std::chrono::microseconds(count);
}

}  // namespace

BOOST_AUTO_TEST_CASE(without_faults_all_ranks_contribute) {
  for (const bool in_place : {false, true}) {
    tolerant_job job(4, 1, some, in_place);
    job.call_all();
    job.call_all();
    BOOST_REQUIRE(job.finish());
    BOOST_TEST(job.broken_promise() == "");
    BOOST_TEST((job.calls(0)[1].work->contributors() == names({0, 1, 2, 3})));
    BOOST_TEST(job.calls(0)[1].work->number().value == 2u);
    BOOST_TEST((job.calls(0)[0].work->path().algorithm == algorithm::ftar));
  }
}

BOOST_AUTO_TEST_CASE(a_rank_that_dies_in_mid_operation_is_left_out_and_the_rest_goes_on) {
  for (std::uint64_t seed = 1; seed <= seed_count(40); ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      random_stream chance(seed);
      tolerant_job job(4, seed, some, seed % 2 == 0);
      job.call_all();
      job.stage.run_until([] { return false; }, microseconds(chance.below(400)));
      const auto victim = static_cast<std::uint32_t>(chance.below(4));
      job.crash(victim, seed % 3 == 0);
      job.call_all();
      job.call_all();
      BOOST_REQUIRE(job.finish());
      BOOST_REQUIRE_EQUAL(job.broken_promise(), "");
      const auto& last = job.calls(victim == 0 ? 1 : 0).back();
      BOOST_REQUIRE((last.work->error().code() == errc::ok));
      BOOST_TEST(last.work->contributors().size() == 3u);
      BOOST_TEST(last.work->epoch().value >= 1u);
    }
  }
}

BOOST_AUTO_TEST_CASE(proof_shrinks_to_one_and_silence_to_no_quorum_with_the_input_intact) {
  for (const bool is_proven : {true, false}) {
    tolerant_job job(2, 7, some, true);
    job.call_all();
    job.stage.run_until([] { return false; }, microseconds(50));
    job.crash(1, is_proven);
    job.call_one(0);
    BOOST_REQUIRE(job.finish());
    BOOST_TEST(job.broken_promise() == "");
    const auto code = job.calls(0).back().work->error().code();
    BOOST_TEST((code == (is_proven ? errc::ok : errc::no_quorum)));
    if (is_proven) BOOST_TEST((job.calls(0).back().work->contributors() == names({0})));
  }
}

BOOST_AUTO_TEST_CASE(other_operations_end_with_their_epoch_and_go_on_in_the_adopted_one) {
  tolerant_job job(4, 3, some);
  job.call_all();
  BOOST_REQUIRE(job.finish());
  auto& world = job.stage.world(rank{0});
  const auto stuck = world.barrier();  // the others do not call it
  BOOST_REQUIRE(stuck.has_value());
  job.crash(3, true);
  BOOST_REQUIRE(job.stage.run_until([&] { return (*stuck)->test(); }, std::chrono::seconds(10)));
  BOOST_TEST(((*stuck)->error().code() == errc::epoch_changed ||
              (*stuck)->error().code() == errc::peer_lost));
  BOOST_REQUIRE(world.wait_epoch(epoch{0}, std::chrono::seconds(10)).has_value());
  BOOST_TEST(world.size() == 4u);
  const auto early = world.barrier();
  BOOST_REQUIRE(early.has_value());
  BOOST_REQUIRE(job.stage.run_until([&] { return (*early)->test(); }, std::chrono::seconds(10)));
  BOOST_TEST(((*early)->error().code() == errc::epoch_changed));
  std::vector<work_handle> works;
  for (std::uint32_t r = 0; r < 3; ++r) {
    auto& mine = job.stage.world(rank{r});
    BOOST_REQUIRE(mine.wait_epoch(epoch{0}, std::chrono::seconds(10)).has_value());
    const auto adopted = mine.adopt_epoch();
    BOOST_REQUIRE(adopted.has_value());
    BOOST_TEST(adopted->names.size() == 3u);
    BOOST_TEST(mine.size() == 3u);
    works.push_back(*mine.barrier());
  }
  for (const auto& one : works) {
    BOOST_REQUIRE(job.stage.run_until([&] { return one->test(); }, std::chrono::seconds(10)));
    BOOST_TEST((one->error().code() == errc::ok));
  }
}

BOOST_AUTO_TEST_CASE(reconfigure_leaves_out_a_member_that_lives_and_it_learns_so) {
  tolerant_job job(3, 5, some);
  job.call_all();
  BOOST_REQUIRE(job.finish());
  BOOST_TEST((job.stage.world(rank{0}).reconfigure({7}).error().code() == errc::bad_argument));
  BOOST_TEST((job.stage.world(rank{0}).reconfigure({0}).error().code() == errc::bad_argument));
  BOOST_REQUIRE(job.stage.world(rank{0}).reconfigure({1}).has_value());
  BOOST_REQUIRE(
      job.stage.world(rank{0}).wait_epoch(epoch{0}, std::chrono::seconds(10)).has_value());
  job.call_one(0);
  job.call_one(2);
  job.call_one(1);
  BOOST_REQUIRE(job.finish());
  BOOST_TEST((job.calls(0).back().work->contributors() == names({0, 2})));
  BOOST_TEST((job.calls(1).back().work->error().code() == errc::evicted));
  BOOST_TEST((job.stage.world(rank{1}).adopt_epoch().error().code() == errc::evicted));
}

BOOST_AUTO_TEST_CASE(an_abort_ends_a_tolerant_communicator_for_all) {
  tolerant_job job(3, 9, some, true);
  job.call_all();
  job.stage.run_until([] { return false; }, microseconds(30));
  job.stage.world(rank{1}).abort();
  BOOST_REQUIRE(job.finish(std::chrono::seconds(1)));
  for (std::uint32_t r = 0; r < 3; ++r)
    BOOST_TEST((job.calls(r)[0].work->error().code() == errc::aborted));
}

BOOST_AUTO_TEST_CASE(a_member_that_finalizes_leaves_and_the_others_go_on_without_it) {
  tolerant_job job(3, 11, some);
  job.call_all();
  BOOST_REQUIRE(job.finish());
  BOOST_REQUIRE(job.stage.world(rank{2}).finalize(std::chrono::seconds(5)).has_value());
  job.call_one(0);
  job.call_one(1);
  BOOST_REQUIRE(job.finish());
  BOOST_TEST((job.calls(0).back().work->contributors() == names({0, 1})));
}

BOOST_AUTO_TEST_CASE(finalize_waits_for_an_operation_that_a_view_change_decides) {
  for (std::uint64_t seed = 1; seed <= seed_count(40); ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      random_stream chance(seed);
      tolerant_job job(3, seed, some);
      job.call_all();
      job.stage.run_until([] { return false; }, microseconds(chance.below(300)));
      job.crash(2, true);
      const auto left = job.stage.world(rank{0}).finalize(std::chrono::seconds(10));
      BOOST_TEST(left.has_value());
      BOOST_REQUIRE(job.finish());
      BOOST_TEST(job.broken_promise() == "");
      BOOST_TEST((job.calls(0)[0].work->error().code() == errc::ok));
    }
  }
}

BOOST_AUTO_TEST_CASE(ranks_that_disagree_get_the_same_error_and_go_on) {
  tolerant_job job(3, 13, some);
  std::vector<float> few(10, 1.0f), many(20, 1.0f);
  std::vector<work_handle> works;
  for (std::uint32_t r = 0; r < 3; ++r) {
    auto& data = r == 1 ? many : few;
    works.push_back(*job.stage.world(rank{r}).all_reduce(
        {.send = data.data(), .receive = data.data(), .count = data.size()}));
  }
  for (const auto& one : works) {
    BOOST_REQUIRE(job.stage.run_until([&] { return one->test(); }, std::chrono::seconds(60)));
    BOOST_TEST((one->error().code() == errc::mismatch));
  }
  BOOST_TEST(few[0] == 1.0f);
  job.call_all();
  BOOST_REQUIRE(job.finish());
  BOOST_TEST((job.calls(0)[0].work->error().code() == errc::ok));
}

BOOST_AUTO_TEST_CASE(half_of_sixty_four_ranks_die_one_after_the_other) {
  tolerant_job job(64, 17, 2'000);
  random_stream chance(17);
  for (std::uint32_t victim = 0; victim < 32; ++victim) {
    job.call_all();
    job.stage.run_until([] { return false; }, microseconds(chance.below(500)));
    job.crash(victim * 2, true);
  }
  job.call_all();
  BOOST_REQUIRE(job.finish());
  BOOST_TEST(job.broken_promise() == "");
  BOOST_TEST(job.calls(1).back().work->contributors().size() == 32u);
}

BOOST_AUTO_TEST_CASE(a_newcomer_comes_in_between_two_operations_and_contributes) {
  tolerant_job job(3, 19, some);
  job.call_all();
  BOOST_REQUIRE(job.finish());
  for (const std::uint32_t giver : {0u, 2u}) {
    const auto invited = job.stage.world(rank{giver}).invite();
    BOOST_REQUIRE(invited.has_value());
    const auto in = job.add_newcomer(*invited);
    BOOST_REQUIRE_MESSAGE(in.has_value(), (in ? "" : in.error().message));
    job.call_all();
    job.call_all();
    BOOST_REQUIRE(job.finish());
    BOOST_TEST(job.broken_promise() == "");
  }
  BOOST_TEST((job.calls(0).back().work->contributors() == names({0, 1, 2, 3, 4})));
  BOOST_TEST(job.stage.world(rank{4}).members().names.size() == 5u);
}

BOOST_AUTO_TEST_CASE(a_replacement_comes_in_while_operations_run_one_after_the_other) {
  for (std::uint64_t seed = 1; seed <= seed_count(20); ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      random_stream chance(seed);
      tolerant_job job(4, seed, some, seed % 2 == 0);
      job.call_all();
      job.call_all();
      job.stage.run_until([] { return false; }, microseconds(chance.below(400)));
      const auto victim = static_cast<std::uint32_t>(chance.below(4));
      job.crash(victim, true);
      const auto invited = job.stage.world(rank{victim == 0 ? 1u : 0u}).invite();
      BOOST_REQUIRE(invited.has_value());
      const auto in = job.add_newcomer(*invited);
      BOOST_REQUIRE_MESSAGE(in.has_value(), (in ? "" : in.error().message));
      job.call_all();
      job.call_all();
      BOOST_REQUIRE(job.finish());
      BOOST_REQUIRE_EQUAL(job.broken_promise(), "");
      BOOST_TEST(job.calls(4).back().work->contributors().size() == 4u);
    }
  }
}

BOOST_AUTO_TEST_CASE(an_invitation_lets_one_rank_in_and_a_forged_one_none) {
  tolerant_job job(2, 23, 100);
  job.call_all();
  BOOST_REQUIRE(job.finish());
  const auto invited = job.stage.world(rank{0}).invite();
  BOOST_REQUIRE(invited.has_value());
  auto forged = *invited;
  forged[12] = forged[12] == 'a' ? 'b' : 'a';
  BOOST_TEST(!job.add_newcomer(forged, std::chrono::seconds(2)).has_value());
  job.call_all();
  BOOST_REQUIRE(job.finish());
  BOOST_TEST((job.calls(0).back().work->contributors() == names({0, 1})));
  BOOST_TEST(!job.stage.add_newcomer("no invitation", std::chrono::seconds(1)).has_value());
}

BOOST_AUTO_TEST_CASE(a_member_that_was_left_out_without_proof_keeps_the_door_shut_until_proven) {
  tolerant_job job(4, 29, 1000);
  job.call_all();
  job.crash(3, false);
  job.call_all();
  BOOST_REQUIRE(job.finish());
  const auto invited = job.stage.world(rank{0}).invite();
  BOOST_REQUIRE(invited.has_value());
  BOOST_TEST(!job.add_newcomer(*invited, std::chrono::seconds(3)).has_value());
  job.stage.tell_end(rank{3});
  const auto again = job.stage.world(rank{1}).invite();
  BOOST_TEST(job.add_newcomer(*again).has_value());
}

// With 1,024 ranks this takes three minutes, the time of eight million transfers of rings.
BOOST_AUTO_TEST_CASE(a_hundred_ranks_lose_two_and_take_one_in) {
  tolerant_job job(128, 31, 2'048);
  job.call_all();
  job.stage.run_until([] { return false; }, microseconds(700));
  job.crash(17, true);
  job.crash(0, true);
  job.call_all();
  BOOST_REQUIRE(job.finish());
  BOOST_TEST(job.calls(1).back().work->contributors().size() == 126u);
  const auto invited = job.stage.world(rank{50}).invite();
  BOOST_REQUIRE(invited.has_value());
  const auto in = job.add_newcomer(*invited);
  BOOST_REQUIRE_MESSAGE(in.has_value(), (in ? "" : in.error().message));
  job.call_all();
  BOOST_REQUIRE(job.finish());
  BOOST_TEST(job.broken_promise() == "");
  BOOST_TEST(job.calls(1).back().work->contributors().size() == 127u);
}

BOOST_AUTO_TEST_CASE(a_hundred_members_go_and_come_and_a_survivors_memory_stays) {
  tolerant_job job(3, 37, 3'000, true);
  std::uint64_t early = 0;
  for (std::uint32_t cycle = 0; cycle < 100; ++cycle) {
    job.call_all();
    BOOST_REQUIRE(job.finish());
    job.crash(cycle + 1, true);
    job.call_all();
    BOOST_REQUIRE(job.finish());
    const auto invited = job.stage.world(rank{0}).invite();
    BOOST_REQUIRE(invited.has_value());
    const auto in = job.add_newcomer(*invited);
    BOOST_REQUIRE_MESSAGE(in.has_value(), (in ? "" : in.error().message));
    job.forget_ended_calls();
    if (cycle == 20) early = job.stage.memory(rank{0}).total();
  }
  // What stays of a member that is gone: its name, its address, and that it ended.
  BOOST_TEST(job.stage.memory(rank{0}).total() < early + 80 * 1'000);
  BOOST_TEST(job.stage.context(rank{0}).links.size() <= 3u);
}

BOOST_AUTO_TEST_CASE(every_rare_branch_of_coming_in_was_visited) {
  std::size_t marks = 0;
  for (const auto* m = mark::first(); m != nullptr; m = m->next()) {
    if (!std::string_view(m->name()).starts_with("newcomer:")) continue;
    ++marks;
    BOOST_TEST(m->hits() > 0, "mark never hit: " << m->name());
  }
  BOOST_TEST(marks == 2u);
}
