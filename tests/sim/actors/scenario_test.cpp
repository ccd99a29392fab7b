#define BOOST_TEST_MODULE scenario_sim
#include <boost/test/unit_test.hpp>

#include <string>

#include "runtime/scenario/check_scenario.hpp"
#include "runtime/scenario/judge_run.hpp"
#include "runtime/scenario/read_scenario.hpp"
#include "runtime/scenario/world.hpp"

// What a simulated world does with each kind of fault and trigger. The scripts that ship are played
// by processes.runtime/cli.scenarios_sim.

namespace troupe::scenario {
namespace {

struct played {
  fault_plan plan;
  run_record record;
  std::vector<finding> findings;

  std::string text() const {
    std::string out;
    for (const finding& each : findings)
      out += std::string(to_string(each.how)) + ": " + each.text + "\n";
    return out;
  }
  bool good() const { return findings.empty(); }
};

played play(const std::string& text, std::uint64_t seed) {
  const auto of = read_scenario(text, "f.toml");
  BOOST_REQUIRE_MESSAGE(of.has_value(), (of ? "" : of.error().message));
  const auto checked = check_scenario(*of);
  BOOST_REQUIRE_MESSAGE(checked.has_value(), (checked ? "" : checked.error().message));
  auto world = make_simulated_world(*of, seed);
  BOOST_REQUIRE(world.has_value());
  auto state = make_conduct_state(*of, seed);
  played out;
  out.record = conduct(state, **world);
  out.plan = state.plan;
  out.findings = judge_run(*of, out.plan, out.record, world_kind::sim);
  return out;
}

/// Four ranks, ten ring all-reduces, and `more`.
std::string job(const std::string& more) {
  return "story = \"s\"\nworlds = \"sim\"\nlimit = \"30s\"\n"
         "[topology]\nranks = 4\nranks_per_host = 2\nnics_per_host = 2\n"
         "[workload]\nsteps = 10\n"
         "[[workload.operation]]\nkind = \"all_reduce\"\nalgorithm = \"ring\"\ncount = 40000\n"
         "[settings.transport]\ndata_lane_count = 3\nsilence_timeout = \"1s\"\n"
         "heartbeat_interval = \"100ms\"\nwrite_timeout = \"200ms\"\n" +
         more;
}

std::string fault_text(const std::string& kind, const std::string& rest) {
  return "[[fault]]\nkind = \"" + kind + "\"\n" + rest + "\n";
}

constexpr const char* all_ok = "[[expect]]\noutcome = \"ok\"\nsteps = 10\n";
constexpr const char* one_lost =
    "[[expect]]\nranks = \"survivors\"\noutcome = \"peer_lost\"\nnames = 1\nwithin = \"3s\"\n";

void expect_good(const std::string& text, std::uint64_t seeds = 5) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto run = play(text, seed);
    BOOST_TEST(run.good(), "seed " << seed << ", of\n" << text << "\n" << run.text());
  }
}

BOOST_AUTO_TEST_CASE(the_same_seed_gives_the_same_trace_and_another_seed_another) {
  const auto text = job(fault_text("loss", "at = \"0ms\"\nshare = \"2%\"") +
                        fault_text("kill", "random = 1\nat = \"300us\"") +
                        "[[expect]]\noutcome = [\"ok\", \"peer_lost\", \"killed\"]\n");
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto once = play(text, seed);
    BOOST_TEST(once.record.trace_hash == play(text, seed).record.trace_hash);
    BOOST_TEST(once.record.trace_hash != play(text, seed + 100).record.trace_hash);
  }
}

BOOST_AUTO_TEST_CASE(without_faults_everybody_finishes) {
  expect_good(job(std::string(all_ok) + "[[expect]]\nno_leak = \"memory\"\n"));
}

BOOST_AUTO_TEST_CASE(a_rank_that_ends_is_named_by_all_others_whatever_ended_it) {
  expect_good(job(fault_text("kill", "rank = 1\nstep = 4") + one_lost));
  expect_good(job(fault_text("power_off", "rank = 1\nstep = 4\nafter = \"20us\"") + one_lost));
  expect_good(job(fault_text("stop", "rank = 1\nstep = 4") + one_lost));
  expect_good(
      job(fault_text("kill", "rank = 1\nevent = \"operation_started\"\nnth = 3") + one_lost));
  expect_good(job(fault_text("kill", "rank = 1\nevent = \"segment_sent\"\nnth = 5") + one_lost));
}

BOOST_AUTO_TEST_CASE(phases_of_a_ring_are_hit) {
  for (const char* phase : {"reduce_scatter", "between_reduce_scatter_and_all_gather"}) {
    const auto text =
        job(fault_text("kill", std::string("rank = 1\nstep = 3\nphase = \"") + phase + "\"") +
            one_lost);
    expect_good(text);
    const auto run = play(text, 1);
    BOOST_REQUIRE(run.record.strikes[0].struck.has_value());
    BOOST_TEST(run.record.ranks[1].steps_done == 2u);
    BOOST_TEST((*run.record.strikes[0].struck >= run.record.ranks[1].step_begins[2]));
  }
}

BOOST_AUTO_TEST_CASE(what_passes_is_survived) {
  const std::string ok = all_ok;
  expect_good(job(fault_text("stop", "rank = 1\nstep = 4\nfor = \"300ms\"") + ok));
  expect_good(job(fault_text("slow", "rank = 1\nstep = 4\nby = \"1ms\"\nfor = \"5ms\"") + ok));
  expect_good(job(fault_text("lane_down", "link = [0, 1]\nlanes = 1\nstep = 4") + ok));
  expect_good(job(fault_text("nic_down", "host = 0\nnic = 1\nstep = 4\nfor = \"50ms\"") + ok));
  expect_good(job(fault_text("loss", "at = \"0ms\"\nshare = \"1%\"") + ok));
  expect_good(job(fault_text("delay", "rank = 1\nat = \"0ms\"\nby = \"1ms\"\nfor = \"5ms\"") + ok));
  expect_good(job(fault_text("reorder", "at = \"0ms\"\nby = \"100us\"") + ok));
  expect_good(job(fault_text("duplicate", "link = [0, 1]\nat = \"0ms\"\nshare = \"10%\"") + ok));
  expect_good(job(fault_text("lost_completion", "rank = 1\nstep = 4") + ok));
  expect_good(job(fault_text("garbage", "rank = 1\nstep = 4") + ok));
  expect_good(job(fault_text("refused_dials", "rank = 1\nstep = 4") + ok));
  expect_good(job(fault_text("partition", "host = 0\nstep = 4\nfor = \"20ms\"") + ok));
}

BOOST_AUTO_TEST_CASE(what_does_not_pass_ends_every_operation) {
  expect_good(job(fault_text("partition", "host = 0\nstep = 4") +
                  "[[expect]]\noutcome = \"peer_lost\"\nwithin = \"3s\"\n"));
  expect_good(job(fault_text("throwing_actor", "rank = 1\nactor = \"collective\"\nstep = 4") +
                  "[[expect]]\noutcome = [\"internal_failure\", \"peer_lost\", \"aborted\"]\n"
                  "within = \"3s\"\n"));
  expect_good(job(fault_text("failed_allocation", "rank = 1\nstep = 4") +
                  "[[expect]]\nrank = 1\noutcome = \"queue_full\"\n"
                  "[[expect]]\nranks = [0, 2, 3]\noutcome = [\"queue_full\", \"peer_lost\", "
                  "\"aborted\", \"timed_out\"]\n"
                  "[settings.collective]\ntimeout = \"2s\"\n"));
}

BOOST_AUTO_TEST_CASE(a_rank_that_is_killed_while_joining_is_missed) {
  expect_good(job(fault_text("kill", "rank = 1\nphase = \"join\"") +
                  "[settings.bootstrap]\ntimeout = \"3s\"\n"
                  "[[expect]]\nranks = \"survivors\"\noutcome = [\"timed_out\", \"peer_lost\", "
                  "\"unreachable\"]\nwithin = \"5s\"\n"));
}

BOOST_AUTO_TEST_CASE(corrupt_bytes_do_not_go_unseen) {
  std::uint64_t seen = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed)
    seen += play(job(fault_text("corrupt", "at = \"0ms\"\nshare = \"5%\"")), seed).good() ? 0 : 1;
  BOOST_TEST(seen >= 9u);
}

BOOST_AUTO_TEST_CASE(a_run_that_hangs_is_a_missed_deadline) {
  // Nobody may notice that rank 1 is silent before the limit of the run.
  auto text = job(fault_text("stop", "rank = 1\nstep = 4"));
  const auto replace = [&text](const std::string& what, const std::string& with) {
    text.replace(text.find(what), what.size(), with);
  };
  replace("silence_timeout = \"1s\"", "silence_timeout = \"50m\"");
  replace("write_timeout = \"200ms\"", "write_timeout = \"10m\"");
  replace("limit = \"30s\"", "limit = \"3s\"");
  const auto run = play(text, 1);
  BOOST_TEST((worst_of(run.findings) == judgement::missed_deadline), run.text());
}

}  // namespace
}  // namespace troupe::scenario
