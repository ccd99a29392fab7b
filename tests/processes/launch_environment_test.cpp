#define BOOST_TEST_MODULE launch_environment
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <fstream>
#include <set>

#include "tests/processes/cli_process.hpp"

using namespace troupe::tests;

namespace {

using lines = std::vector<std::string>;

void check_lines(const std::string& text, lines expected) {
  const lines found = sorted_lines(text);
  BOOST_CHECK_EQUAL_COLLECTIONS(found.begin(), found.end(), expected.begin(), expected.end());
}

/// Text behind the tag of a line.
std::set<std::string> untagged(const std::string& text) {
  std::set<std::string> values;
  for (const std::string& line : sorted_lines(text))
    values.insert(line.substr(line.find(' ') + 1));
  return values;
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_rank_gets_the_variables_of_torchrun) {
  const auto run = run_cli(launch_shell(
      {"-n", "3"},
      "echo $RANK $LOCAL_RANK $WORLD_SIZE $LOCAL_WORLD_SIZE $GROUP_RANK $ROLE_RANK "
      "$ROLE_WORLD_SIZE $MASTER_ADDR $TORCHELASTIC_RESTART_COUNT $TORCHELASTIC_MAX_RESTARTS"));
  BOOST_CHECK_EQUAL(run.exit_code, 0);
  check_lines(run.out, {"[0] 0 0 3 3 0 0 3 127.0.0.1 0 0", "[1] 1 1 3 3 0 1 3 127.0.0.1 0 0",
                        "[2] 2 2 3 3 0 2 3 127.0.0.1 0 0"});
  BOOST_CHECK_EQUAL(run.error, "");
}

BOOST_AUTO_TEST_CASE(ranks_share_port_and_secret_and_jobs_do_not) {
  const auto words =
      launch_shell({"-n", "4"}, "echo $MASTER_PORT $TROUPE_BOOTSTRAP_SECRET $TORCHELASTIC_RUN_ID");
  const auto first = untagged(run_cli(words).out);
  const auto second = untagged(run_cli(words).out);
  BOOST_REQUIRE_EQUAL(first.size(), 1u);
  BOOST_REQUIRE_EQUAL(second.size(), 1u);
  BOOST_CHECK_NE(*first.begin(), *second.begin());
  BOOST_CHECK_GT(first.begin()->size(), 64u + 5u);  // 256 bits in hexadecimal, and a port
}

BOOST_AUTO_TEST_CASE(a_secret_that_is_set_is_kept_and_an_old_rank_is_not) {
  cli_setup setup;
  setup.environment = {{"TROUPE_BOOTSTRAP_SECRET", "mine"}, {"RANK", "77"}};
  setup.arguments = launch_shell({"-n", "1"}, "echo $TROUPE_BOOTSTRAP_SECRET $RANK");
  BOOST_CHECK_EQUAL(run_cli(setup).out, "[0] mine 0\n");
}

BOOST_AUTO_TEST_CASE(host_port_and_config_reach_every_rank) {
  const std::string file = "launch_environment_test." + std::to_string(::getpid()) + ".toml";
  std::ofstream(file) << "[collective]\n";
  const auto run =
      run_cli(launch_shell({"-n", "2", "--host", "127.0.0.2", "--port", "29611", "--config", file},
                           "echo $MASTER_ADDR $MASTER_PORT $TROUPE_CONFIG"));
  ::unlink(file.c_str());
  BOOST_CHECK_EQUAL(run.exit_code, 0);
  check_lines(run.out, {"[0] 127.0.0.2 29611 " + file, "[1] 127.0.0.2 29611 " + file});
}

BOOST_AUTO_TEST_CASE(arguments_reach_the_program_unchanged) {
  const auto run = run_cli(
      {"launch", "-n", "1", "--", "printf", "<%s>", "-n", "--help", "a b", "", "--", "bench"});
  BOOST_CHECK_EQUAL(run.out, "[0] <-n><--help><a b><><--><bench>\n");
}

BOOST_AUTO_TEST_CASE(standard_input_is_for_rank_0_alone) {
  cli_setup setup;
  setup.input = "word\n";
  setup.arguments = launch_shell({"-n", "2"}, "read line; echo got $line");
  check_lines(run_cli(setup).out, {"[0] got word", "[1] got"});
}

BOOST_AUTO_TEST_CASE(ranks_inherit_no_descriptor_of_the_launcher) {
  // ls has the directory itself open as number 3.
  const auto run = run_cli({"launch", "-n", "2", "--", "ls", "/proc/self/fd"});
  check_lines(run.out, {"[0] 0", "[0] 1", "[0] 2", "[0] 3", "[1] 0", "[1] 1", "[1] 2", "[1] 3"});
}

BOOST_AUTO_TEST_CASE(a_raised_descriptor_limit_is_not_handed_on) {
  cli_setup setup;
  setup.descriptor_limit = rlimit{48, 4096};
  setup.arguments = launch_shell({"-n", "32"}, "ulimit -Sn");
  const auto run = run_cli(setup);
  BOOST_CHECK_EQUAL(run.exit_code, 0);
  BOOST_CHECK(untagged(run.out) == std::set<std::string>{"48"});
}

BOOST_AUTO_TEST_CASE(too_few_descriptors_are_an_error_that_says_needed_and_available) {
  cli_setup setup;
  setup.descriptor_limit = rlimit{64, 64};
  setup.arguments = {"launch", "-n", "32", "--", "true"};
  const auto run = run_cli(setup);
  BOOST_CHECK_EQUAL(run.exit_code, 3);
  BOOST_CHECK_EQUAL(run.error,
                    "troupe: error: 32 ranks need 128 file descriptors in the launcher, the limit "
                    "is 64; raise it (ulimit -Hn) or start fewer ranks\n");
}

BOOST_AUTO_TEST_CASE(sixty_four_ranks_start_and_end) {
  const auto run = run_cli({"launch", "-n", "64", "--", "/bin/true"});
  BOOST_CHECK_EQUAL(run.exit_code, 0);
  BOOST_CHECK_EQUAL(run.out + run.error, "");
}

BOOST_AUTO_TEST_CASE(three_hundred_ranks_are_all_heard) {
  const auto run = run_cli(launch_shell({"-n", "300"}, "echo $RANK"));
  BOOST_CHECK_EQUAL(run.exit_code, 0);
  BOOST_CHECK_EQUAL(untagged(run.out).size(), 300u);
}
