#define BOOST_TEST_MODULE judge_run
#include "runtime/scenario/judge_run.hpp"

#include <boost/test/unit_test.hpp>

#include "runtime/scenario/read_scenario.hpp"
#include "tests/unit/runtime/scenario/script_text.hpp"

namespace troupe::scenario {
namespace {

using namespace std::chrono_literals;

constexpr const char* kill = "[[fault]]\nkind = \"kill\"\nrank = 1\nstep = 3\n";

/// A script and a run in which all went as it has to: rank 1 killed if the script has a fault.
struct court {
  explicit court(const std::string& more) {
    auto read = read_scenario(script_with(more), "f.toml");
    BOOST_REQUIRE_MESSAGE(read.has_value(), (read ? "" : read.error().message));
    of = *read;
    plan = make_fault_plan(of, 1);
    record.work_began = instant(1s);
    record.ended = instant(2s);
    record.ranks.resize(4);
    record.strikes.resize(plan.strikes.size());
    for (auto& each : record.strikes)
      each.struck = instant(1s + 100ms);
    for (auto& each : record.ranks) {
      each.joined = true;
      each.steps_done = 10;
      each.outcome = rank_outcome{};
      each.ended = instant(1s + 900ms);
    }
    if (of.faults.empty()) return;
    record.ranks[1].killed = true;
    record.ranks[1].outcome = rank_outcome{rank_outcome::kind::killed, errc::ok};
    for (const std::uint32_t r : {0u, 2u, 3u}) {
      record.ranks[r].outcome = rank_outcome{rank_outcome::kind::failed, errc::peer_lost};
      record.ranks[r].why = failure(error{errc::peer_lost, 0, rank{1}}, "rank 1 closed");
      record.ranks[r].steps_done = 2;
      record.ranks[r].ended = instant(1s + 150ms);
    }
  }

  std::vector<finding> judged(world_kind where = world_kind::sim) const {
    return judge_run(of, plan, record, where);
  }
  judgement worst() const { return worst_of(judged()); }

  script of;
  fault_plan plan;
  run_record record;
};

bool is(judgement found, judgement wanted) {
  return found == wanted;
}

const std::string lost = std::string(kill) +
                         "[[expect]]\nranks = \"survivors\"\noutcome = \"peer_lost\"\nnames = 1\n"
                         "within = \"100ms\"\n";

BOOST_AUTO_TEST_CASE(a_run_as_expected_has_no_findings) {
  BOOST_TEST(court("").judged().empty());
  BOOST_TEST(court(lost).judged().empty());
}

BOOST_AUTO_TEST_CASE(a_rank_of_which_nothing_is_expected_has_to_be_ok) {
  BOOST_TEST(is(court(kill).worst(), judgement::wrong_result));
  court hung("");
  hung.record.ranks[2].outcome.reset();
  BOOST_TEST(is(hung.worst(), judgement::missed_deadline));
}

BOOST_AUTO_TEST_CASE(another_outcome_or_another_name_is_a_wrong_result) {
  court other(lost);
  other.record.ranks[2].outcome->code = errc::timed_out;
  BOOST_TEST(is(other.worst(), judgement::wrong_result));
  BOOST_TEST(other.judged().at(0).line == 15u);
  court wrong_name(lost);
  wrong_name.record.ranks[0].why.what.peer = rank{3};
  BOOST_TEST(is(wrong_name.worst(), judgement::wrong_result));
}

BOOST_AUTO_TEST_CASE(too_late_and_never_are_missed_deadlines) {
  court late(lost);
  late.record.ranks[3].ended = instant(1s + 201ms);
  BOOST_TEST(is(late.worst(), judgement::missed_deadline));
  court stuck(lost);
  stuck.record.ranks[3].outcome.reset();
  BOOST_TEST(is(stuck.worst(), judgement::missed_deadline));
}

BOOST_AUTO_TEST_CASE(wrong_elements_are_a_wrong_result_unless_any_data_will_do) {
  court wrong("");
  wrong.record.ranks[1].wrong_elements = 5;
  BOOST_TEST(is(wrong.worst(), judgement::wrong_result));
  court any("[[expect]]\ndata = \"any\"\n");
  any.record.ranks[1].wrong_elements = 5;
  BOOST_TEST(any.judged().empty());
}

BOOST_AUTO_TEST_CASE(a_process_that_ends_by_itself_is_a_crash_whatever_is_expected) {
  court crashed("[[expect]]\noutcome = [\"ok\", \"internal_failure\"]\n");
  crashed.record.ranks[2].crash = "killed by SIGSEGV";
  crashed.record.ranks[2].outcome->code = errc::internal_failure;
  BOOST_TEST(is(crashed.worst(), judgement::crash));
  court broken("");
  broken.record.ranks[2].outcome->code = errc::internal_failure;
  BOOST_TEST(is(broken.worst(), judgement::crash));
}

BOOST_AUTO_TEST_CASE(a_fault_that_did_not_strike_fails_the_run) {
  court never_struck(lost);
  never_struck.record.strikes[0].struck.reset();
  BOOST_TEST(is(never_struck.worst(), judgement::wrong_result));
  court refused(lost);
  refused.record.strikes[0].refused = "no";
  BOOST_TEST(is(refused.worst(), judgement::wrong_result));
}

BOOST_AUTO_TEST_CASE(whom_a_chance_did_not_hit_is_a_survivor) {
  court missed(
      "[[fault]]\nkind = \"kill\"\nrank = 1\nmtbf = \"1ms\"\nrepeat = 1\n"
      "[[expect]]\nranks = \"survivors\"\noutcome = \"peer_lost\"\n");
  BOOST_REQUIRE(missed.record.strikes.size() == 1u);
  missed.record.strikes[0].struck.reset();
  BOOST_TEST(is(missed.worst(), judgement::wrong_result));  // rank 1 did not end in peer_lost
  missed.record.ranks[1] = missed.record.ranks[0];
  BOOST_TEST(missed.judged().empty());
  missed.record.strikes[0].struck = missed.record.ranks[1].ended + 1ms;  // too late for it
  missed.record.ranks[1].killed = true;
  BOOST_TEST(missed.judged().empty());
}

BOOST_AUTO_TEST_CASE(steps_metrics_and_leaks_have_bounds) {
  BOOST_TEST(court("[[expect]]\nsteps = 10\n").judged().empty());
  BOOST_TEST(is(court("[[expect]]\nsteps = 9\n").worst(), judgement::wrong_result));
  court measured("[[expect]]\nmetric = \"m\"\nat_least = 2\nat_most = 3\n");
  BOOST_TEST(is(measured.worst(), judgement::wrong_result));
  measured.record.metrics = {{"m", 2.5}};
  BOOST_TEST(measured.judged().empty());
  measured.record.metrics = {{"m", 4}};
  BOOST_TEST(is(measured.worst(), judgement::wrong_result));
  court leaking("[[expect]]\nworlds = \"process\"\nno_leak = [\"threads\", \"memory\"]\n");
  for (auto& each : leaking.record.ranks)
    each.before = each.after = footprint{5, 2, 1000};
  BOOST_TEST(leaking.judged(world_kind::process).empty());
  leaking.record.ranks[0].after->threads = 3;
  leaking.record.ranks[1].after->memory = 1300;
  BOOST_TEST(leaking.judged(world_kind::process).size() == 2u);
  BOOST_TEST(leaking.judged(world_kind::sim).empty());
}

BOOST_AUTO_TEST_CASE(epochs_members_contributors_and_verdicts_are_compared) {
  court wanted(
      "[[expect]]\nrank = 0\nepoch = 2\nmembers = [0, 1]\ncontributors = [0, 1]\n"
      "verdict = \"rank_silent\"\nculprit = 3\n");
  BOOST_TEST(wanted.judged().size() == 5u);
  wanted.record.ranks[0].epoch = 2;
  wanted.record.ranks[0].members = wanted.record.ranks[0].contributors = {0, 1};
  wanted.record.verdict = "rank_silent";
  wanted.record.culprits = {3};
  BOOST_TEST(wanted.judged().empty());
  wanted.record.ranks[0].members = {0, 1, 2};
  wanted.record.culprits = {2, 3};
  BOOST_TEST(wanted.judged().size() == 2u);
}

BOOST_AUTO_TEST_CASE(throughput_compares_steps_before_and_after_the_faults) {
  court slower(
      "[[fault]]\nkind = \"slow\"\nrank = 1\nstep = 3\nby = \"1ms\"\nfor = \"1ms\"\n"
      "[[expect]]\noutcome = [\"ok\", \"peer_lost\", \"killed\"]\nthroughput = \"90%\"\n");
  slower.record.strikes[0].lifted = instant(1s + 101ms);
  const auto set = [&](duration before, duration after) {
    for (auto& each : slower.record.ranks) {
      each.step_begins = {instant(1s), instant(1s + 50ms), instant(1s + 110ms)};
      each.step_times = {10ms, before, after};
    }
  };
  set(10ms, 11ms);
  BOOST_TEST(slower.judged().empty());
  set(10ms, 20ms);
  BOOST_TEST(slower.judged().size() == 4u);
}

}  // namespace
}  // namespace troupe::scenario
