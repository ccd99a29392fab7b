#define BOOST_TEST_MODULE read_scenario
#include "runtime/scenario/read_scenario.hpp"

#include <boost/test/unit_test.hpp>

#include "runtime/scenario/print_scenario.hpp"
#include "tests/unit/runtime/scenario/script_text.hpp"

namespace troupe::scenario {
namespace {

std::string problem_of(const std::string& text) {
  const auto read = read_scenario(text, "f.toml");
  if (read) return "";
  BOOST_TEST((read.error().code() == errc::bad_configuration));
  return read.error().message;
}

/// What is wrong with `more` in a script that is right otherwise.
std::string problem_with(const std::string& more) {
  return problem_of(script_with(more));
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

script read(const std::string& text) {
  auto out = read_scenario(text, "f.toml");
  BOOST_REQUIRE_MESSAGE(out.has_value(), (out ? "" : out.error().message));
  return *out;
}

constexpr const char* kill = "[[fault]]\nkind = \"kill\"\nrank = 1\n";

BOOST_AUTO_TEST_CASE(everything_that_a_script_says_is_read) {
  const auto all = read(script_with(
      "[settings.transport]\nsilence_timeout = \"1s\"\n"
      "[process]\nlanes = \"tcp\"\n"
      "[[fault]]\nkind = \"loss\"\nlink = [2, 1]\nat = \"3ms\"\nby = \"2ms\"\nshare = \"0.5%\"\n"
      "for = \"1s\"\nrepeat = 3\nevery = \"2s\"\n"
      "[[fault]]\nkind = \"stop\"\nrandom = 2\nphase = \"reduce_scatter\"\nstep = 4\n"
      "after = \"5us\"\n"
      "[[expect]]\nranks = \"survivors\"\noutcome = [\"ok\", \"peer_lost\"]\nnames = 3\n"
      "within = \"2s\"\nsteps_at_least = 4\ndata = \"exact\"\nthroughput = \"90%\"\n"
      "no_leak = \"memory\"\n"));
  BOOST_TEST(all.machines.ranks == 4u);
  BOOST_TEST(all.machines.host_of(3) == 1u);
  BOOST_TEST(all.work.steps == 10u);
  BOOST_TEST((all.work.operations[0].algorithm == algorithm::ring));
  BOOST_TEST(all.settings[0].first == "transport.silence_timeout");
  BOOST_TEST((all.lanes == process_lanes::tcp));
  const fault& loss = all.faults.at(0);
  BOOST_TEST((loss.kind == fault_kind::loss));
  BOOST_TEST(loss.whom.numbers == (std::vector<std::uint32_t>{2, 1}));
  BOOST_TEST((loss.when.at == std::chrono::milliseconds(3)));
  BOOST_TEST((loss.by == std::chrono::milliseconds(2)));
  BOOST_TEST(loss.share == 0.005);
  BOOST_TEST((*loss.lasts == std::chrono::seconds(1)));
  BOOST_TEST(loss.repeat == 3u);
  const fault& stop = all.faults.at(1);
  BOOST_TEST((stop.whom.what == selector::kind::random));
  BOOST_TEST((stop.when.what == trigger_kind::phase));
  BOOST_TEST(stop.when.step == 4u);
  const expectation& wanted = all.expectations.at(0);
  BOOST_TEST((wanted.whom.what == selector::kind::survivors));
  BOOST_TEST(wanted.outcomes.size() == 2u);
  BOOST_TEST(*wanted.names == 3u);
  BOOST_TEST(*wanted.throughput == 0.9);
}

BOOST_AUTO_TEST_CASE(what_is_printed_reads_to_the_same_script) {
  const auto all = read(script_with(
      "[topology.cross_zone]\nlatency = \"1ms\"\nbandwidth = \"1GB/s\"\n"
      "[settings.transport]\nsilence_timeout = \"1s\"\nack_delay = \"1ms\"\n"
      "[[fault]]\nkind = \"kill\"\npercent = \"25%\"\nmtbf = \"3ms\"\nrepeat = 2\n"
      "[[fault]]\nkind = \"throwing_actor\"\nrole = \"rendezvous\"\nactor = \"rank\"\n"
      "event = \"operation_ended\"\nnth = 3\n"
      "[[fault]]\nkind = \"delay\"\nprobability = \"12.5%\"\nby = \"1us\"\n"
      "[[expect]]\nmetric = \"troupe_lanes_lost_total\"\nat_least = 1\nat_most = 2.5\n"
      "[[expect]]\nepoch = 2\nmembers = [0, 1]\nverdict = \"process_dead\"\nculprit = 1\n"));
  const std::string printed = print_scenario(all);
  BOOST_TEST(print_scenario(read(printed)) == printed);
}

BOOST_AUTO_TEST_CASE(an_unknown_key_is_named_with_its_line_and_the_nearest_one) {
  const auto problem = problem_with(std::string(kill) + "stpe = 3\n");
  BOOST_TEST(problem == "f.toml:14: unknown key \"stpe\" in [[fault]]; nearest: step");
  const auto other = problem_with(std::string(kill) + "step = 3\nafer = \"1ms\"\n");
  BOOST_TEST(other == "f.toml:15: unknown key \"afer\" in [[fault]]; nearest: after");
}

BOOST_AUTO_TEST_CASE(a_key_that_comes_twice_is_refused_with_its_line) {
  BOOST_TEST(problem_with(std::string(kill) + "step = 3\nstep = 3\n").starts_with("f.toml:15: "));
}

BOOST_AUTO_TEST_CASE(a_word_that_is_unknown_gets_the_nearest_and_all_others) {
  const auto problem = problem_with("[[fault]]\nkind = \"kil\"\nrank = 0\nstep = 1\n");
  BOOST_TEST(problem.starts_with("f.toml:12: kind = \"kil\" is unknown; nearest: \"kill\";"),
             problem);
  BOOST_TEST(has(problem, "power_off"), problem);
}

BOOST_AUTO_TEST_CASE(a_duration_without_unit_is_refused) {
  BOOST_TEST(problem_with(std::string(kill) + "at = 5\n") ==
             "f.toml:14: at has no unit; write \"5ms\" or \"2s\"");
  BOOST_TEST(has(problem_with(std::string(kill) + "at = \"5\"\n"), "f.toml:14: at = \"5\""));
  BOOST_TEST(has(problem_with(std::string(kill) + "at = \"-5ms\"\n"), "is negative"));
}

BOOST_AUTO_TEST_CASE(a_number_out_of_range_is_refused_with_the_range) {
  BOOST_TEST(problem_with(std::string(kill) + "step = 0\n") ==
             "f.toml:14: step = 0 is out of range; write a whole number from 1 to 1000000");
  BOOST_TEST(has(problem_with(std::string(kill) + "step = \"1\"\n"), "is a string"));
}

BOOST_AUTO_TEST_CASE(two_ways_to_say_whom_or_when_are_one_too_many) {
  BOOST_TEST(has(problem_with(std::string(kill) + "host = 1\nstep = 1\n"), "both say whom"));
  BOOST_TEST(has(problem_with(std::string(kill) + "at = \"1ms\"\nstep = 1\n"), "both say when"));
  BOOST_TEST(has(problem_with("[[fault]]\nkind = \"kill\"\nstep = 1\n"), "does not say whom"));
}

BOOST_AUTO_TEST_CASE(numbers_that_a_fault_does_not_have_are_refused) {
  BOOST_TEST(has(problem_with(std::string(kill) + "step = 1\nby = \"1ms\"\n"),
                 "f.toml:15: by is nothing that kill has"));
  BOOST_TEST(has(problem_with(std::string(kill) + "step = 1\nfor = \"1ms\"\n"),
                 "for is nothing that kill has"));
  BOOST_TEST(has(problem_with("[[fault]]\nkind = \"slow\"\nrank = 1\nstep = 1\n"), "needs by"));
  BOOST_TEST(
      has(problem_with("[[fault]]\nkind = \"nic_down\"\nrank = 1\nstep = 1\n"), "needs nic"));
  BOOST_TEST(has(problem_with(std::string(kill) + "mtbf = \"1s\"\n"), "needs repeat"));
}

BOOST_AUTO_TEST_CASE(shares_have_a_percent_sign) {
  const std::string loss = "[[fault]]\nkind = \"loss\"\nat = \"1ms\"\nshare = ";
  BOOST_TEST(problem_with(loss + "\"2%\"\n") == "");
  for (const char* wrong : {"\"2\"", "\"101%\"", "\"-1%\"", "\"nan%\"", "\"%\"", "\"2%%\""})
    BOOST_TEST(has(problem_with(loss + wrong + "\n"), "is no share"), wrong);
  BOOST_TEST(has(problem_with(loss + "\"0%\"\n"), "can never strike"));
}

BOOST_AUTO_TEST_CASE(settings_are_those_of_the_configuration) {
  const auto problem = problem_with("[settings.transport]\nsilence_timeut = \"1s\"\n");
  BOOST_TEST(problem.starts_with("f.toml:12: "), problem);
  BOOST_TEST(has(problem, "transport.silence_timeout"), problem);
  BOOST_TEST(has(problem_with("[settings]\nx = 1\n"), "write [settings.x]"));
}

BOOST_AUTO_TEST_CASE(verdicts_are_those_of_the_analyser) {
  BOOST_TEST(
      has(problem_with("[[expect]]\nverdict = \"proces_dead\"\n"), "nearest: \"process_dead\""));
}

BOOST_AUTO_TEST_CASE(parts_that_are_missing_are_named) {
  BOOST_TEST(has(problem_of(""), "no story"));
  BOOST_TEST(has(problem_of("story = \"s\"\n"), "no worlds"));
  BOOST_TEST(has(problem_of("story = \"s\"\nworlds = \"sim\"\n"), "no [topology]"));
  BOOST_TEST(
      has(problem_of("story = \"s\"\nworlds = \"sim\"\n[topology]\nranks = 2\n"), "no [workload]"));
}

}  // namespace
}  // namespace troupe::scenario
