#define BOOST_TEST_MODULE scenario_machine
#include "runtime/scenario/scenario_machine.hpp"

#include <boost/test/unit_test.hpp>

#include "runtime/scenario/read_scenario.hpp"
#include "tests/unit/runtime/scenario/script_text.hpp"

namespace troupe::scenario {
namespace {

using namespace std::chrono_literals;

/// A run of four ranks that the test plays by hand.
struct hand_run {
  explicit hand_run(const std::string& more) {
    auto read = read_scenario(script_with(more), "f.toml");
    BOOST_REQUIRE_MESSAGE(read.has_value(), (read ? "" : read.error().message));
    of = *read;
    state = make_conduct_state(of, 1);
    feed(run_started{});
  }

  void feed(const conduct_event& event) { step(state, event, now, out); }

  void join_all() {
    for (std::uint32_t r = 0; r < 4; ++r) {
      feed(rank_joined{r});
      feed(step_reached{r, 1});
    }
  }

  void pass(duration d) {
    now += d;
    feed(time_passed{});
  }

  /// Effects of a kind so far, and forgets all.
  template <class Effect>
  std::vector<Effect> take() {
    std::vector<Effect> found;
    for (const auto& each : out)
      if (const auto* one = std::get_if<Effect>(&each)) found.push_back(*one);
    out.clear();
    return found;
  }

  /// The rank does what is left of its work.
  void finish(std::uint32_t r, std::uint32_t from) {
    for (std::uint32_t s = from; s <= of.work.steps; ++s) {
      feed(call_made{r});
      feed(call_ended{r, {}, 0});
      feed(step_reached{r, s + 1});
    }
  }

  script of;
  conduct_state state;
  instant now{1s};
  std::vector<conduct_effect> out;
};

failure lost(std::uint32_t peer) {
  return {error{errc::peer_lost, 0, rank{peer}}, "lost"};
}

BOOST_AUTO_TEST_CASE(nobody_begins_before_all_have_joined) {
  hand_run run("");
  for (std::uint32_t r = 0; r < 3; ++r) {
    run.feed(rank_joined{r});
    run.feed(step_reached{r, 1});
  }
  BOOST_TEST(run.take<begin_step>().empty());
  run.feed(rank_joined{3});
  BOOST_TEST(run.take<begin_step>().size() == 3u);
  run.feed(step_reached{3, 1});
  BOOST_TEST(run.take<begin_step>().size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_rank_that_cannot_join_keeps_nobody_waiting) {
  hand_run run("");
  for (std::uint32_t r = 0; r < 3; ++r) {
    run.feed(rank_joined{r});
    run.feed(step_reached{r, 1});
  }
  run.feed(join_failed{3, failure(errc::timed_out, "late")});
  BOOST_TEST(run.take<begin_step>().size() == 3u);
  BOOST_TEST((run.state.record.ranks[3].outcome->code == errc::timed_out));
}

BOOST_AUTO_TEST_CASE(a_fault_of_a_step_strikes_before_its_rank_begins_it) {
  hand_run run("[[fault]]\nkind = \"stop\"\nrank = 1\nstep = 2\nfor = \"5ms\"\n");
  run.join_all();
  run.out.clear();
  run.feed(step_reached{0, 2});
  BOOST_TEST(run.take<do_strike>().empty());
  run.feed(step_reached{1, 2});
  BOOST_REQUIRE(run.out.size() == 2u);
  BOOST_TEST(std::holds_alternative<do_strike>(run.out[0]));
  BOOST_TEST(std::holds_alternative<begin_step>(run.out[1]));
  run.out.clear();
  run.pass(4ms);
  BOOST_TEST(run.take<lift_strike>().empty());
  run.pass(1ms);
  BOOST_TEST(run.take<lift_strike>().size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_killed_rank_begins_nothing_and_its_process_may_end) {
  hand_run run("[[fault]]\nkind = \"kill\"\nrank = 1\nstep = 1\n");
  run.join_all();
  for (const auto& each : run.take<begin_step>())
    BOOST_TEST(each.rank != 1u);
  run.feed(process_ended{1, "killed by SIGKILL"});
  BOOST_TEST(run.state.record.ranks[1].crash == "");
  BOOST_TEST((run.state.record.ranks[1].outcome->what == rank_outcome::kind::killed));
}

BOOST_AUTO_TEST_CASE(a_process_that_ends_by_itself_has_crashed) {
  hand_run run("");
  run.join_all();
  run.feed(process_ended{2, "killed by SIGSEGV"});
  BOOST_TEST(run.state.record.ranks[2].crash == "killed by SIGSEGV");
  BOOST_TEST((run.state.record.ranks[2].outcome->code == errc::internal_failure));
}

BOOST_AUTO_TEST_CASE(a_time_counts_from_the_beginning_of_the_work) {
  hand_run run("[[fault]]\nkind = \"kill\"\nrank = 1\nat = \"3ms\"\n");
  run.pass(10ms);
  run.join_all();
  run.out.clear();
  BOOST_TEST((next_deadline(run.state) == run.now + 3ms));
  run.pass(2ms);
  BOOST_TEST(run.take<do_strike>().empty());
  run.pass(1ms);
  BOOST_TEST(run.take<do_strike>().size() == 1u);
}

BOOST_AUTO_TEST_CASE(the_nth_call_of_its_rank_triggers_a_fault_once) {
  hand_run run("[[fault]]\nkind = \"kill\"\nrank = 1\nevent = \"operation_ended\"\nnth = 2\n");
  run.join_all();
  for (int i = 0; i < 3; ++i)
    run.feed(call_ended{0, {}, 0});
  BOOST_TEST(run.take<do_strike>().empty());
  run.feed(call_ended{1, {}, 0});
  BOOST_TEST(run.take<do_strike>().empty());
  run.feed(call_ended{1, {}, 0});
  run.feed(call_ended{1, {}, 0});
  BOOST_TEST(run.take<do_strike>().size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_phase_is_watched_from_the_step_it_belongs_to) {
  hand_run run("[[fault]]\nkind = \"kill\"\nrank = 1\nphase = \"reduce_scatter\"\nstep = 2\n");
  run.join_all();
  BOOST_TEST(run.take<watch_for>().empty());
  run.feed(step_reached{1, 2});
  BOOST_TEST(run.take<watch_for>().size() == 1u);
  run.feed(watched_happened{0});
  run.feed(watched_happened{0});
  BOOST_TEST(run.take<do_strike>().size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_slow_rank_begins_late_while_it_is_slow) {
  hand_run run("[[fault]]\nkind = \"slow\"\nrank = 1\nstep = 1\nby = \"7ms\"\nfor = \"10ms\"\n");
  run.join_all();
  BOOST_TEST(run.take<begin_step>().size() == 4u);
  run.feed(step_reached{1, 2});
  run.pass(6ms);
  BOOST_TEST(run.take<begin_step>().empty());
  run.pass(1ms);
  BOOST_TEST(run.take<begin_step>().size() == 1u);
  run.pass(10ms);
  run.feed(step_reached{1, 3});
  BOOST_TEST(run.take<begin_step>().size() == 1u);
  BOOST_TEST(run.take<do_strike>().empty());
}

BOOST_AUTO_TEST_CASE(the_run_is_over_when_every_rank_has_ended) {
  hand_run run("");
  run.join_all();
  for (std::uint32_t r = 0; r < 3; ++r)
    run.finish(r, 1);
  BOOST_TEST(run.take<end_run>().empty());
  run.feed(call_ended{3, lost(0), 0});
  BOOST_TEST(run.take<end_run>().size() == 1u);
  BOOST_TEST(run.state.over);
  BOOST_TEST(run.state.record.ranks[0].steps_done == 10u);
  BOOST_TEST((run.state.record.ranks[3].why.what.peer == rank{0}));
  BOOST_TEST((next_deadline(run.state) == never));
}

BOOST_AUTO_TEST_CASE(a_rank_that_is_stopped_for_good_keeps_nobody_waiting) {
  hand_run run("[[fault]]\nkind = \"stop\"\nrank = 1\nstep = 1\n");
  run.join_all();
  for (const std::uint32_t r : {0u, 2u, 3u})
    run.feed(call_ended{r, lost(1), 0});
  BOOST_TEST(run.state.over);
  BOOST_TEST((run.state.record.ranks[1].outcome->what == rank_outcome::kind::stopped));
}

BOOST_AUTO_TEST_CASE(the_limit_ends_a_run_that_hangs) {
  hand_run run("");
  run.join_all();
  run.pass(run.of.limit - 1ns);
  BOOST_TEST(!run.state.over);
  run.pass(1ns);
  BOOST_TEST(run.state.over);
  BOOST_TEST(run.state.record.out_of_time);
  BOOST_TEST(!run.state.record.ranks[0].outcome.has_value());
}

}  // namespace
}  // namespace troupe::scenario
