#define BOOST_TEST_MODULE cli_usage
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <fstream>

#include "tests/processes/cli_process.hpp"

using namespace troupe::tests;

namespace {

using words = std::vector<std::string>;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A command line that is refused: exit code 2, one line that says why, nothing on standard output.
void check_refused(const words& arguments, const std::string& why) {
  const auto run = run_cli(arguments);
  BOOST_CHECK_EQUAL(run.exit_code, 2);
  BOOST_CHECK_EQUAL(run.out, "");
  BOOST_CHECK_EQUAL(count_of("\n", run.error), 1);
  BOOST_CHECK_MESSAGE(run.error.starts_with("troupe: error: "), run.error);
  BOOST_CHECK_MESSAGE(contains(run.error, why), run.error << " lacks " << why);
}

/// A file that is gone when the test is.
struct scratch_file {
  explicit scratch_file(const std::string& text)
      : path("cli_usage_test." + std::to_string(::getpid()) + ".toml") {
    std::ofstream(path) << text;
  }
  ~scratch_file() { ::unlink(path.c_str()); }
  std::string path;
};

}  // namespace

BOOST_AUTO_TEST_CASE(help_and_version_go_to_standard_output_with_exit_code_0) {
  for (const words& asked :
       {words{"--help"}, words{"launch", "--help"}, words{"bench", "--help"},
        words{"sim", "--help"}, words{"config", "--help"}, words{"config", "print", "--help"},
        words{"config", "check", "--help"}, words{"--version"}}) {
    const auto run = run_cli(asked);
    BOOST_CHECK_EQUAL(run.exit_code, 0);
    BOOST_CHECK_EQUAL(run.error, "");
    BOOST_CHECK_GT(run.out.size(), 5u);
  }
  for (const char* command : {"launch", "bench", "sim"}) {
    const std::string help = run_cli(words{command, "--help"}).out;
    BOOST_CHECK(contains(help, std::string("Example:\n  troupe ") + command));
    BOOST_CHECK(!contains(help, "--as-rank"));
  }
}

BOOST_AUTO_TEST_CASE(a_wrong_command_line_is_one_error_line_that_names_it) {
  check_refused({}, "subcommand is required");
  check_refused(
      {"lunch"},
      "command 'lunch' is unknown; there are: launch, bench, tune, sim, scenario, config, "
      "dump, analyze, tiers, top");
  check_refused({"launch"}, "--ranks is required");
  check_refused({"launch", "-n", "2"}, "put it after --");
  check_refused({"launch", "-n", "2", "--"}, "there is no program to launch");
  check_refused({"launch", "-n", "0", "--", "true"}, "not in range 1 to 4096");
  check_refused({"launch", "-n", "x", "--", "true"}, "Value x not in range");
  check_refused({"launch", "-n", "2", "--timeout", "soon", "--", "true"}, "'soon' is no time");
  check_refused({"launch", "-n", "2", "--config", "no-such.toml", "--", "true"}, "no-such.toml");
  check_refused({"launch", "-n", "2", "--colour", "--", "true"}, "--colour");
  check_refused({"bench", "all_reduse", "-n", "2"}, "collective 'all_reduse' is unknown");
  check_refused({"bench", "all_reduce", "-n", "2", "-b", "1X"}, "'1X' is no size");
  check_refused({"bench", "all_reduce", "-n", "2", "-b", "8", "-e", "4"}, "larger than -e");
  check_refused({"bench", "all_reduce", "-n", "2", "--type", "real"}, "float32");
  check_refused({"bench", "all_reduce", "-n", "2", "--set", "nonsense"}, "section.name=value");
  check_refused({"bench", "all_reduce", "-n", "2", "--set", "tcp.backlok=9"}, "tcp.backlog");
  check_refused({"bench", "all_reduce", "-n", "2", "--lanes", "pigeon"}, "pigeon");
  check_refused({"bench", "all_reduce"}, "-n N starts N ranks here");
  check_refused({"sim", "send", "-n", "4"}, "cannot be simulated");
  check_refused({"sim", "all_reduce", "--bandwidth", "fast"}, "'fast' is no rate");
  check_refused({"sim", "broadcast", "-n", "4", "--root", "4"}, "there are 0 to 3");
  check_refused({"sim", "all_reduce", "--algorithm", "magic"}, "recursive_doubling");
}

BOOST_AUTO_TEST_CASE(ranks_that_contradict_the_environment_are_refused) {
  cli_setup setup;
  setup.environment = {{"RANK", "0"}, {"WORLD_SIZE", "4"}};
  setup.arguments = {"bench", "all_reduce", "-n", "2"};
  const auto run = run_cli(setup);
  BOOST_CHECK_EQUAL(run.exit_code, 2);
  BOOST_CHECK(contains(run.error, "-n 2 contradicts WORLD_SIZE=4"));
}

BOOST_AUTO_TEST_CASE(a_benchmark_of_nccl_tests_that_is_not_built_is_not_available) {
  const auto run = run_cli(words{"bench", "hypercube", "-n", "2"});
  BOOST_CHECK_EQUAL(run.exit_code, 3);
  BOOST_CHECK(contains(run.error, "not_available: hypercube"));
}

BOOST_AUTO_TEST_CASE(config_print_shows_value_and_origin_of_file_and_environment) {
  const scratch_file file("[tcp]\nbacklog = 77\n");
  cli_setup setup;
  setup.environment = {{"TROUPE_TRANSPORT_SEGMENT_BYTES", "128KiB"},
                       {"TROUPE_BOOTSTRAP_SECRET", "very-secret"}};
  setup.arguments = {"config", "print", "--config", file.path, "--set", "tcp.lane_depth=12"};
  const auto run = run_cli(setup);
  BOOST_CHECK_EQUAL(run.exit_code, 0);
  BOOST_CHECK(contains(run.out, file.path + ":2\n"));
  BOOST_CHECK(contains(run.out, "environment TROUPE_TRANSPORT_SEGMENT_BYTES"));
  BOOST_CHECK(!contains(run.out, "very-secret"));
}

BOOST_AUTO_TEST_CASE(what_config_print_writes_as_toml_passes_config_check) {
  const auto printed = run_cli(words{"config", "print", "--toml"});
  BOOST_CHECK_EQUAL(printed.exit_code, 0);
  const scratch_file file(printed.out);
  const auto checked = run_cli(words{"config", "check", file.path});
  BOOST_CHECK_EQUAL(checked.exit_code, 0);
  BOOST_CHECK(contains(checked.out, file.path + ": ok, "));
}

BOOST_AUTO_TEST_CASE(config_check_names_file_line_and_nearest_option) {
  const scratch_file file("[tcp]\n\nbacklok = 9\n");
  check_refused({"config", "check", file.path}, file.path + ":3");
  check_refused({"config", "check", file.path}, "backlog");
}

BOOST_AUTO_TEST_CASE(config_page_is_the_reference_page) {
  const auto run = run_cli(words{"config", "page"});
  BOOST_CHECK_EQUAL(run.exit_code, 0);
  BOOST_CHECK(run.out.starts_with("# Configuration\n"));
}
