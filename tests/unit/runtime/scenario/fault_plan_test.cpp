#define BOOST_TEST_MODULE fault_plan
#include "runtime/scenario/fault_plan.hpp"

#include <boost/test/unit_test.hpp>
#include <set>

#include "runtime/scenario/read_scenario.hpp"
#include "tests/unit/runtime/scenario/script_text.hpp"

namespace troupe::scenario {
namespace {

using ranks = std::vector<std::uint32_t>;

script read(const std::string& more) {
  auto out = read_scenario(script_with(more), "f.toml");
  BOOST_REQUIRE_MESSAGE(out.has_value(), (out ? "" : out.error().message));
  return *out;
}

fault_plan plan_of(const std::string& more, std::uint64_t seed = 1) {
  return make_fault_plan(read(more), seed);
}

std::string fault_text(const std::string& rest) {
  return "[[fault]]\nkind = \"kill\"\n" + rest + "\n";
}

BOOST_AUTO_TEST_CASE(named_machines_are_their_ranks) {
  BOOST_TEST(plan_of(fault_text("host = 1\nstep = 1")).strikes.at(0).targets == (ranks{2, 3}));
  BOOST_TEST(plan_of(fault_text("rack = 0\nstep = 1")).strikes.at(0).targets ==
             (ranks{0, 1, 2, 3}));
  BOOST_TEST(plan_of(fault_text("role = \"rendezvous\"\nstep = 1")).strikes.at(0).targets ==
             (ranks{0}));
}

BOOST_AUTO_TEST_CASE(the_same_seed_draws_the_same_and_another_seed_something_else) {
  const std::string drawn = fault_text("random = 2\nstep = 1");
  std::set<ranks> seen;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const auto targets = plan_of(drawn, seed).strikes.at(0).targets;
    BOOST_TEST(targets.size() == 2u);
    BOOST_TEST(targets == plan_of(drawn, seed).strikes.at(0).targets);
    seen.insert(targets);
  }
  BOOST_TEST(seen.size() == 6u);
}

BOOST_AUTO_TEST_CASE(nobody_is_killed_twice) {
  const auto plan = plan_of(fault_text("random = 1\nmtbf = \"1ms\"\nrepeat = 10"));
  std::set<std::uint32_t> killed;
  for (const auto& each : plan.strikes)
    BOOST_TEST(killed.insert(each.targets.at(0)).second);
  BOOST_TEST(killed.size() == 4u);
  BOOST_TEST(plan.victims == std::vector<bool>(4, true));
}

BOOST_AUTO_TEST_CASE(a_probability_strikes_about_so_many_steps) {
  auto work = read(fault_text("rank = 1\nprobability = \"20%\""));
  work.work.steps = 10'000;
  work.faults[0].kind = fault_kind::slow;
  const auto strikes = make_fault_plan(work, 3).strikes;
  BOOST_TEST(strikes.size() > 1800u);
  BOOST_TEST(strikes.size() < 2200u);
  for (const auto& each : strikes)
    BOOST_TEST((each.when.what == trigger_kind::step && !each.certain));
}

BOOST_AUTO_TEST_CASE(intervals_between_failures_have_the_mean_that_was_asked_for) {
  auto work = read(fault_text("rank = 1\nmtbf = \"1ms\"\nrepeat = 5000"));
  work.faults[0].kind = fault_kind::slow;
  const auto strikes = make_fault_plan(work, 3).strikes;
  BOOST_TEST(strikes.size() == 5000u);
  const double mean = static_cast<double>(strikes.back().when.at.count()) / 5000;
  BOOST_TEST(mean > 0.95e6);
  BOOST_TEST(mean < 1.05e6);
}

BOOST_AUTO_TEST_CASE(a_repeated_fault_strikes_in_even_intervals) {
  const std::string twice =
      "[[fault]]\nkind = \"stop\"\nrank = 1\nfor = \"1ms\"\nrepeat = 2\n"
      "every = \"5ms\"\n";
  const auto timed = plan_of(twice + "at = \"2ms\"\n").strikes;
  BOOST_TEST((timed.at(1).when.at == std::chrono::milliseconds(7)));
  const auto stepped = plan_of(twice + "step = 3\n").strikes;
  BOOST_TEST(stepped.at(1).when.step == 3u);
  BOOST_TEST((stepped.at(1).when.after == std::chrono::milliseconds(5)));
}

BOOST_AUTO_TEST_CASE(survivors_are_those_whom_nothing_ends) {
  const auto work = read(fault_text("rank = 2\nstep = 1") +
                         "[[fault]]\nkind = \"stop\"\nrank = 0\nstep = 1\nfor = \"1ms\"\n");
  const auto plan = make_fault_plan(work, 1);
  selector whom;
  whom.what = selector::kind::survivors;
  BOOST_TEST(expected_ranks(whom, work, plan) == (ranks{0, 1, 3}));
  whom.what = selector::kind::victims;
  BOOST_TEST(expected_ranks(whom, work, plan) == (ranks{2}));
}

}  // namespace
}  // namespace troupe::scenario
