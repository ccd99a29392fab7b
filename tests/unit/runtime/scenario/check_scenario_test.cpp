#define BOOST_TEST_MODULE check_scenario
#include "runtime/scenario/check_scenario.hpp"

#include <boost/test/unit_test.hpp>

#include "runtime/scenario/read_scenario.hpp"
#include "tests/unit/runtime/scenario/script_text.hpp"

namespace troupe::scenario {
namespace {

std::string problem_of(const std::string& text) {
  const auto read = read_scenario(text, "f.toml");
  BOOST_REQUIRE_MESSAGE(read.has_value(), (read ? "" : read.error().message));
  const auto checked = check_scenario(*read);
  return checked ? "" : checked.error().message;
}

std::string problem_with(const std::string& more) {
  return problem_of(script_with(more));
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string fault_text(const std::string& kind, const std::string& rest) {
  return "[[fault]]\nkind = \"" + kind + "\"\n" + rest + "\n";
}

std::string expect_text(const std::string& rest) {
  return "[[expect]]\n" + rest + "\n";
}

BOOST_AUTO_TEST_CASE(a_script_that_is_right_passes) {
  BOOST_TEST(problem_with(fault_text("kill", "rank = 1\nstep = 3") +
                          expect_text("ranks = \"survivors\"\noutcome = \"peer_lost\"\nnames = 1") +
                          expect_text("rank = 1\noutcome = \"killed\"")) == "");
}

BOOST_AUTO_TEST_CASE(ranks_and_machines_that_do_not_exist_are_refused) {
  BOOST_TEST(problem_with(fault_text("kill", "rank = 4\nstep = 3")) ==
             "f.toml:11: rank 4 does not exist; there are 0 to 3");
  BOOST_TEST(has(problem_with(fault_text("kill", "host = 2\nstep = 3")), "host 2 does not exist"));
  BOOST_TEST(has(problem_with(fault_text("kill", "rack = 1\nstep = 3")), "rack 1 does not exist"));
  BOOST_TEST(has(problem_with(fault_text("lane_down", "link = [0, 9]\nstep = 3")), "rank 9"));
  BOOST_TEST(has(problem_with(fault_text("kill", "random = 5\nstep = 3")), "no 5 ranks"));
  BOOST_TEST(has(problem_with(fault_text("nic_down", "rank = 0\nnic = 1\nstep = 3")), "nic 1"));
  BOOST_TEST(has(problem_with(expect_text("rank = 7\noutcome = \"ok\"")), "rank 7"));
  BOOST_TEST(has(problem_with(expect_text("names = 7")), "names: rank 7"));
}

BOOST_AUTO_TEST_CASE(a_fault_that_can_never_trigger_is_refused_with_the_reason) {
  BOOST_TEST(problem_with(fault_text("kill", "rank = 1\nstep = 11")) ==
             "f.toml:11: can never trigger: there is no step 11; there are 1 to 10");
  BOOST_TEST(has(problem_with(fault_text("kill", "rank = 1\nat = \"1h\"")), "after the limit"));
  BOOST_TEST(
      has(problem_with(fault_text("kill", "rank = 1\nevent = \"operation_started\"\nnth = 11")),
          "nth = 11 never comes"));
  BOOST_TEST(has(problem_with(fault_text("kill", "rank = 1\nprobability = \"0%\"")), "is zero"));
  BOOST_TEST(has(problem_with(fault_text("kill", "rank = 1\nstep = 2") +
                              fault_text("stop", "rank = 1\nstep = 3")),
                 "f.toml:15: can never trigger: rank 1 ended before"));
  BOOST_TEST(has(problem_with(fault_text("kill", "role = \"root\"\nstep = 2")), "has a root"));
  BOOST_TEST(
      has(problem_with(fault_text("partition", "ranks = \"all\"\nstep = 2")), "cuts nobody off"));
  std::string no_ring = script_with(fault_text("kill", "rank = 1\nphase = \"reduce_scatter\""));
  no_ring.replace(no_ring.find("\"ring\""), 6, "\"recursive_doubling\"");
  BOOST_TEST(has(problem_of(no_ring), "only a ring has this phase"));
}

BOOST_AUTO_TEST_CASE(expectations_that_contradict_are_refused_with_both_lines) {
  BOOST_TEST(problem_with(expect_text("ranks = [0, 1]\noutcome = \"ok\"") +
                          expect_text("rank = 1\noutcome = \"timed_out\"")) ==
             "f.toml:14: outcome contradicts the expectation of line 11");
  BOOST_TEST(problem_with(expect_text("ranks = [0, 1]\noutcome = \"ok\"") +
                          expect_text("rank = 2\noutcome = \"timed_out\"")) == "");
  BOOST_TEST(has(problem_with(expect_text("steps = 3\nsteps_at_least = 4")), "contradicts"));
  BOOST_TEST(has(problem_with(expect_text("steps = 11")), "more than the 10"));
  BOOST_TEST(has(problem_with(expect_text("steps = 10\noutcome = \"peer_lost\"")), "is ok"));
  BOOST_TEST(has(problem_with(expect_text("outcome = \"ok\"\nnames = 1")), "names nobody"));
  BOOST_TEST(has(problem_with(expect_text("metric = \"m\"\nat_least = 3\nat_most = 2")), "above"));
  BOOST_TEST(has(problem_with(expect_text("rank = 1")), "expects nothing"));
}

BOOST_AUTO_TEST_CASE(expectations_that_contradict_the_faults_are_refused) {
  const std::string kill = fault_text("kill", "rank = 1\nstep = 3");
  BOOST_TEST(has(problem_with(kill + expect_text("rank = 1\noutcome = \"ok\"")),
                 "is killed by the fault of line 11"));
  BOOST_TEST(has(problem_with(kill + expect_text("rank = 2\noutcome = \"killed\"")),
                 "nothing kills rank 2"));
}

BOOST_AUTO_TEST_CASE(what_a_world_cannot_play_is_refused_by_name) {
  std::string both = script_with(fault_text("corrupt", "step = 3"));
  BOOST_TEST(problem_of(both) == "");
  both.replace(both.find("\"sim\""), 5, "[\"sim\", \"process\"]");
  BOOST_TEST(problem_of(both) ==
             "f.toml:11: corrupt cannot be played in world process: neither sockets nor emulated "
             "cards corrupt bytes");
  BOOST_TEST(has(problem_with(fault_text("no_descriptors", "rank = 1\nstep = 3")),
                 "no_descriptors cannot be played in world sim"));
  std::string gpu = script_with("");
  gpu.replace(gpu.find("\"sim\""), 5, "\"gpu\"");
  BOOST_TEST(has(problem_of(gpu), "world gpu"));
}

BOOST_AUTO_TEST_CASE(what_a_world_cannot_judge_is_refused_by_name) {
  std::string both = script_with(expect_text("verdict = \"process_dead\""));
  BOOST_TEST(problem_of(both) == "");
  both.replace(both.find("\"sim\""), 5, "\"process\"");
  BOOST_TEST(has(problem_of(both), "verdict and culprit cannot be judged"));
}

BOOST_AUTO_TEST_CASE(an_expectation_of_one_world_is_not_asked_of_another) {
  BOOST_TEST(problem_with(expect_text("worlds = \"process\"\nno_leak = \"threads\"")) == "");
  BOOST_TEST(has(problem_with(expect_text("no_leak = \"threads\"")), "neither descriptors nor"));
}

}  // namespace
}  // namespace troupe::scenario
