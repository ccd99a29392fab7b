#define BOOST_TEST_MODULE demo_training
#include <signal.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/processes/cli_process.hpp"

using namespace troupe::tests;

namespace {

using words = std::vector<std::string>;

/// `troupe launch -n RANKS -- train_characters FLAGS` with a model that learns in a second.
words training(const std::string& ranks, const words& flags) {
  words all{"launch", "-n", ranks, "--", TRAIN_CHARACTERS};
  const words small{"--steps", "12", "--batch", "48", "--context", "8", "--width", "32"};
  all.insert(all.end(), small.begin(), small.end());
  all.insert(all.end(), flags.begin(), flags.end());
  return all;
}

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::filesystem::path scratch_file(const std::string& name) {
  return std::filesystem::temp_directory_path() / (std::to_string(getpid()) + name);
}

}  // namespace

BOOST_AUTO_TEST_CASE(two_groups_of_two_learn_bitwise_what_one_process_learns) {
  const auto run = run_cli(training("4", {}));
  BOOST_TEST(run.exit_code == 0, run.error);
  BOOST_TEST(count_of("4 ranks in 2 groups of 2", run.out) == 1);
  BOOST_TEST(count_of("bitwise identical over all 12 steps", run.out) == 1, run.out);
  BOOST_TEST(count_of("the model writes:", run.out) == 1);
  BOOST_TEST(count_of("where the time of rank 0 went", run.out) == 1);
}

BOOST_AUTO_TEST_CASE(without_the_all_reduce_the_comparison_fails) {
  const auto run = run_cli(training("4", {"--break-sync"}));
  BOOST_TEST(run.exit_code == 1, run.error);
  BOOST_TEST(count_of("the curves DIFFER", run.out) == 1, run.out);
}

BOOST_AUTO_TEST_CASE(the_loss_curve_in_the_file_is_that_of_a_separate_single_run) {
  const auto job = scratch_file("job.csv");
  const auto single = scratch_file("single.csv");
  BOOST_TEST(run_cli(training("4", {"--csv", job, "--quiet"})).exit_code == 0);
  BOOST_TEST(run_cli(training("1", {"--csv", single, "--single", "--quiet"})).exit_code == 0);
  BOOST_TEST(count_of("\n", content_of(job)) == 13);
  BOOST_TEST(content_of(job) == content_of(single));
  std::filesystem::remove(job);
  std::filesystem::remove(single);
}

BOOST_AUTO_TEST_CASE(jobs_of_other_shapes_are_bitwise_right_too) {
  for (const auto& [ranks, groups] : std::vector<std::pair<std::string, std::string>>{
           {"1", "1"}, {"2", "1"}, {"2", "2"}, {"3", "3"}, {"4", "1"}, {"4", "4"}, {"6", "2"}}) {
    const auto run = run_cli(training(ranks, {"--groups", groups, "--quiet"}));
    BOOST_TEST(run.exit_code == 0, ranks << " ranks, " << groups << " groups: " << run.error);
    BOOST_TEST(count_of("bitwise identical", run.out) == 1, run.out);
  }
}

BOOST_AUTO_TEST_CASE(flags_that_do_not_fit_the_job_are_refused_by_name) {
  const auto groups = run_cli(training("4", {"--groups", "3"}));
  BOOST_TEST(groups.exit_code == 2);
  BOOST_TEST(count_of("--groups 3 does not divide the 4 ranks", groups.error) >= 1, groups.error);
  const auto data = run_cli(training("2", {"--data", "/no/such/text"}));
  BOOST_TEST(data.exit_code == 2);
  BOOST_TEST(count_of("cannot read the text /no/such/text", data.error) >= 1, data.error);
}

BOOST_AUTO_TEST_CASE(ranks_with_other_flags_are_told_apart_before_they_train) {
  const std::string script = std::string("exec ") + TRAIN_CHARACTERS + " --steps 5 --seed $RANK";
  const auto run = run_cli(launch_shell({"-n", "2"}, script));
  BOOST_TEST(run.exit_code == 2);
  BOOST_TEST(count_of("has another text or other flags than rank", run.error) >= 1, run.error);
}

BOOST_AUTO_TEST_CASE(when_a_rank_is_killed_the_others_end_and_name_it) {
  const std::string script = std::string("[ $RANK = 2 ] && echo pid $$ end; exec ") +
                             TRAIN_CHARACTERS + " --steps 100000 --context 8 --width 32";
  cli_setup setup;
  setup.arguments = launch_shell({"-n", "4"}, script);
  cli_process run(setup);
  BOOST_TEST_REQUIRE(run.wait_for_output(" end"));
  BOOST_TEST_REQUIRE(run.wait_for_output("loss"));
  const std::string& out = run.out();
  kill(std::stoi(out.substr(out.find("pid ") + 4)), SIGKILL);
  const auto result = run.finish();
  BOOST_TEST(result.exit_code == 128 + SIGKILL);
  BOOST_TEST(count_of("train_characters: peer_lost", result.error) >= 1, result.error);
  BOOST_TEST(count_of("rank 2", result.error) >= 1, result.error);
}

BOOST_AUTO_TEST_CASE(the_smallest_program_adds_up_the_ranks) {
  const auto run = run_cli({"launch", "-n", "4", "--", HELLO_ALL_REDUCE});
  BOOST_TEST(run.exit_code == 0, run.error);
  BOOST_TEST(count_of("the sum is 6", run.out) == 4, run.out);
}
