#define BOOST_TEST_MODULE launch_failure
#include <signal.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>

#include "tests/processes/cli_process.hpp"

using namespace troupe::tests;

namespace {

bool has(const cli_result& run, const std::string& text) {
  return run.error.find(text) != std::string::npos;
}

/// The number behind `word` in a text.
pid_t number_after(const std::string& word, const std::string& text) {
  const std::size_t at = text.find(word);
  BOOST_REQUIRE(at != std::string::npos);
  return static_cast<pid_t>(std::atoi(text.c_str() + at + word.size()));
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_first_failure_is_named_with_its_exit_code) {
  const auto run = run_cli(
      launch_shell({"-n", "3"}, "if [ $RANK = 1 ]; then sleep 0.1; exit 9; fi; sleep 0.5; exit 4"));
  BOOST_CHECK_EQUAL(run.exit_code, 9);
  BOOST_CHECK(has(run, "troupe: error: rank 1 (pid "));
  BOOST_CHECK(has(run, ") failed first: exit code 9, 0.1"));
  BOOST_CHECK(has(run, "2 ranks still run and may take 5 s to end (--grace)"));
  BOOST_CHECK(has(run, "after that, ranks 0, 2 failed too"));
  BOOST_CHECK(!has(run, "SIGTERM"));
}

BOOST_AUTO_TEST_CASE(a_rank_killed_by_a_signal_is_named_with_the_signal) {
  const auto run = run_cli(launch_shell({"-n", "2"}, "test $RANK = 0 || kill -ABRT $$; sleep 0.2"));
  BOOST_CHECK_EQUAL(run.exit_code, 128 + SIGABRT);
  BOOST_CHECK(has(run, "failed first: killed by SIGABRT"));
}

BOOST_AUTO_TEST_CASE(ranks_that_do_not_end_get_SIGTERM_after_the_grace) {
  const auto run = run_cli(launch_shell({"-n", "2", "--grace", "0.2"},
                                        "test $RANK = 0 || exit 1; sleep 20 & "
                                        "trap 'echo asked to end; exit 0' TERM; wait"));
  BOOST_CHECK_EQUAL(run.exit_code, 1);
  BOOST_CHECK_EQUAL(run.out, "[0] asked to end\n");
  BOOST_CHECK(!has(run, "SIGKILL"));
  BOOST_CHECK_GT(run.seconds, 0.2);
  BOOST_CHECK_LT(run.seconds, 3.0);
}

BOOST_AUTO_TEST_CASE(a_rank_that_ignores_SIGTERM_gets_SIGKILL) {
  const auto run = run_cli(launch_shell(
      {"-n", "2", "--grace", "0.2"}, "test $RANK = 0 || exit 1; trap '' TERM; sleep 20; sleep 20"));
  BOOST_CHECK_EQUAL(run.exit_code, 1);
  BOOST_CHECK(has(run, "sending SIGKILL to rank 0"));
  BOOST_CHECK(has(run, "after that, rank 0 had to be ended"));
  BOOST_CHECK_LT(run.seconds, 3.0);
}

BOOST_AUTO_TEST_CASE(a_job_past_its_timeout_ends_with_124) {
  const auto run =
      run_cli(launch_shell({"-n", "3", "--timeout", "0.3"}, "test $RANK = 1 || sleep 20"));
  BOOST_CHECK_EQUAL(run.exit_code, 124);
  BOOST_CHECK(
      has(run, "error: the job did not end within 0.300 s (--timeout): ranks 0, 2 still run"));
  BOOST_CHECK_LT(run.seconds, 3.0);
}

BOOST_AUTO_TEST_CASE(a_timeout_ends_ranks_that_ignore_SIGTERM_too) {
  const auto run = run_cli(launch_shell({"-n", "2", "--timeout", "0.2", "--grace", "0.2"},
                                        "trap '' TERM; sleep 20; sleep 20"));
  BOOST_CHECK_EQUAL(run.exit_code, 124);
  BOOST_CHECK_LT(run.seconds, 3.0);
}

BOOST_AUTO_TEST_CASE(a_program_that_does_not_exist_is_one_error_line) {
  const auto run = run_cli({"launch", "-n", "4", "--", "no-such-program"});
  BOOST_CHECK_EQUAL(run.exit_code, 127);
  BOOST_CHECK_EQUAL(run.error,
                    "troupe: error: cannot run 'no-such-program': No such file or directory; give "
                    "a path to an executable file, or a program on PATH\n");
  BOOST_CHECK_EQUAL(run_cli({"launch", "-n", "2", "--", "/dev/null"}).exit_code, 126);
}

BOOST_AUTO_TEST_CASE(signals_are_passed_on_to_every_rank) {
  for (const auto& [number, name] : {std::pair{SIGUSR1, "USR1"}, std::pair{SIGUSR2, "USR2"}}) {
    cli_setup setup;
    setup.arguments =
        launch_shell({"-n", "3"}, std::string("trap 'echo told; exit 0' ") + name +
                                      "; echo ready; while true; do sleep 0.05; done");
    cli_process run(setup);
    BOOST_REQUIRE(run.wait_for_output("ready\n", 3));
    run.send(number);
    const auto result = run.finish();
    BOOST_CHECK_EQUAL(result.exit_code, 0);
    BOOST_CHECK_EQUAL(count_of("told\n", result.out), 3);
    BOOST_CHECK(!has(result, "troupe:"));
  }
}

BOOST_AUTO_TEST_CASE(a_terminating_signal_ends_the_job_with_128_plus_its_number) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    cli_setup setup;
    setup.arguments = launch_shell({"-n", "3"}, "echo ready; exec sleep 20");
    cli_process run(setup);
    BOOST_REQUIRE(run.wait_for_output("ready\n", 3));
    run.send(number);
    const auto result = run.finish();
    BOOST_CHECK_EQUAL(result.exit_code, 128 + number);
    BOOST_CHECK(!has(result, "failed first"));
    BOOST_CHECK_LT(result.seconds, 3.0);
  }
}

BOOST_AUTO_TEST_CASE(ranks_that_end_well_after_a_signal_end_the_job_well) {
  cli_setup setup;
  setup.arguments =
      launch_shell({"-n", "2"}, "trap 'exit 0' TERM; echo ready; while true; do sleep 0.05; done");
  cli_process run(setup);
  BOOST_REQUIRE(run.wait_for_output("ready\n", 2));
  run.send(SIGTERM);
  BOOST_CHECK_EQUAL(run.finish().exit_code, 0);
}

BOOST_AUTO_TEST_CASE(a_second_signal_kills_without_waiting_for_the_grace) {
  cli_setup setup;
  setup.arguments =
      launch_shell({"-n", "2", "--grace", "20"}, "trap '' INT; echo ready; sleep 20; sleep 20");
  cli_process run(setup);
  BOOST_REQUIRE(run.wait_for_output("ready\n", 2));
  run.send(SIGINT);
  ::usleep(100'000);
  run.send(SIGINT);
  const auto result = run.finish();
  BOOST_CHECK_EQUAL(result.exit_code, 128 + SIGINT);
  BOOST_CHECK_LT(result.seconds, 3.0);
}

BOOST_AUTO_TEST_CASE(a_grandchild_that_keeps_the_output_open_delays_the_end_by_two_seconds) {
  const auto run = run_cli(launch_shell({"-n", "1"}, "sleep 50 & echo left $!"));
  BOOST_CHECK_EQUAL(run.exit_code, 0);
  BOOST_CHECK_GT(run.seconds, 1.5);
  BOOST_CHECK_LT(run.seconds, 4.0);
  BOOST_CHECK(is_gone(number_after("left ", run.out)));
}

BOOST_AUTO_TEST_CASE(a_grandchild_out_of_the_group_does_not_hang_the_launcher) {
  const auto run = run_cli(launch_shell({"-n", "1"}, "setsid sleep 50 & echo left $!"));
  BOOST_CHECK_EQUAL(run.exit_code, 0);
  BOOST_CHECK_LT(run.seconds, 4.0);
  ::kill(number_after("left ", run.out), SIGKILL);
}

BOOST_AUTO_TEST_CASE(what_a_rank_starts_late_is_still_heard) {
  const auto run = run_cli(launch_shell({"-n", "1"}, "(sleep 0.3; echo late) & echo early"));
  BOOST_CHECK_EQUAL(run.out, "[0] early\n[0] late\n");
}

BOOST_AUTO_TEST_CASE(ranks_die_with_a_launcher_that_is_killed) {
  cli_setup setup;
  setup.arguments = launch_shell({"-n", "2"}, "echo pid $$; exec sleep 50");
  cli_process run(setup);
  BOOST_REQUIRE(run.wait_for_output("pid ", 2));
  const pid_t rank = number_after("pid ", run.out());
  run.send(SIGKILL);
  BOOST_CHECK_EQUAL(run.finish().exit_code, 128 + SIGKILL);
  BOOST_CHECK(is_gone(rank));
}

BOOST_AUTO_TEST_CASE(a_reader_that_leaves_ends_the_ranks_as_in_any_pipeline) {
  cli_setup setup;
  setup.arguments = launch_shell({"-n", "2", "--grace", "1"}, "exec yes");
  cli_process run(setup);
  BOOST_REQUIRE(run.wait_for_output("y\n"));
  BOOST_CHECK_EQUAL(run.stop_reading_output().exit_code, 128 + SIGPIPE);
}
