#define BOOST_TEST_MODULE launch_output
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <csignal>
#include <memory>
#include <thread>

#include "tests/processes/cli_process.hpp"

using namespace troupe::tests;

BOOST_AUTO_TEST_CASE(standard_output_and_error_stay_apart) {
  const auto run = run_cli(launch_shell({"-n", "1"}, "echo one; echo two >&2"));
  BOOST_CHECK_EQUAL(run.out, "[0] one\n");
  BOOST_CHECK_EQUAL(run.error, "[0] two\n");
}

BOOST_AUTO_TEST_CASE(lines_of_many_ranks_never_mix) {
  const auto run = run_cli(
      launch_shell({"-n", "6"},
                   "i=0; while [ $i -lt 400 ]; do printf 'abcdefghij%.0s' 1 2 3 4 5 6 7 8 9; "
                   "printf '%s\\n' klm; i=$((i+1)); done"));
  BOOST_CHECK_EQUAL(run.exit_code, 0);
  std::string body;
  for (int i = 0; i < 9; ++i)
    body += "abcdefghij";
  body += "klm";
  const auto lines = sorted_lines(run.out);
  BOOST_REQUIRE_EQUAL(lines.size(), 6u * 400u);
  for (std::size_t i = 0; i < lines.size(); ++i)
    BOOST_REQUIRE_EQUAL(lines[i], "[" + std::to_string(i / 400) + "] " + body);
}

BOOST_AUTO_TEST_CASE(a_line_written_in_pieces_is_one_line) {
  const auto run =
      run_cli(launch_shell({"-n", "2"}, "printf 'a'; sleep 0.1; printf 'b'; sleep 0.1; echo c"));
  BOOST_CHECK_EQUAL(run.out.size(), 2 * std::string("[0] abc\n").size());
  BOOST_CHECK_EQUAL(count_of("] abc\n", run.out), 2);
}

BOOST_AUTO_TEST_CASE(a_last_line_without_newline_is_not_lost) {
  const auto run = run_cli(launch_shell({"-n", "2"}, "printf 'first\\nlast'"));
  BOOST_CHECK_EQUAL(count_of("] last\n", run.out), 2);
}

BOOST_AUTO_TEST_CASE(a_redrawn_line_comes_out_once_in_its_last_state) {
  const auto run = run_cli(launch_shell(
      {"-n", "1"}, "printf '10%%\\r20%%\\r'; sleep 0.1; printf '\\r30%%\\n'; echo 'dos\r'"));
  BOOST_CHECK_EQUAL(run.out, "[0] 30%\n[0] dos\n");
}

BOOST_AUTO_TEST_CASE(without_tags_bytes_pass_unchanged) {
  const auto run = run_cli(launch_shell({"-n", "1", "--no-tag"}, "printf '1\\r2\\n\\n3'"));
  BOOST_CHECK_EQUAL(run.out, "1\r2\n\n3");
}

BOOST_AUTO_TEST_CASE(output_waits_for_a_slow_reader_and_all_of_it_arrives) {
  cli_setup setup;
  // 200,000 lines of 14 bytes with the tag: more than queues and pipes hold together.
  setup.arguments = launch_shell({"-n", "2"}, "seq 1000000 1199999");
  cli_process run(setup);
  std::this_thread::sleep_for(std::chrono::seconds(3));  // longer than a rank may linger
  const auto result = run.finish();
  BOOST_CHECK_EQUAL(result.exit_code, 0);
  BOOST_CHECK_EQUAL(count_of("\n", result.out), 400'000);
}

BOOST_AUTO_TEST_CASE(what_an_ended_rank_has_in_its_pipe_waits_for_the_reader) {
  // The reader's pipe and the launcher's queue hold 320 to 384 KiB; a rank that writes a little
  // more ends with the rest in its own pipe, and is over long before the reader wakes up.
  std::vector<std::unique_ptr<cli_process>> runs;
  std::vector<std::size_t> sizes;
  for (std::size_t bytes = 330'000; bytes < 450'000; bytes += 15'000) {
    cli_setup setup;
    setup.arguments =
        launch_shell({"-n", "1", "--no-tag"}, "yes | head -c " + std::to_string(bytes));
    runs.push_back(std::make_unique<cli_process>(setup));
    sizes.push_back(bytes);
  }
  std::this_thread::sleep_for(std::chrono::seconds(5));
  for (std::size_t i = 0; i < runs.size(); ++i)
    BOOST_CHECK_EQUAL(runs[i]->finish().out.size(), sizes[i]);
}

BOOST_AUTO_TEST_CASE(a_job_ended_by_a_signal_does_not_wait_for_its_reader) {
  cli_setup setup;
  setup.arguments = launch_shell({"-n", "2"}, "exec yes");
  cli_process run(setup);
  BOOST_REQUIRE(run.wait_for_output("y\n"));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  run.send(SIGTERM);
  BOOST_CHECK_EQUAL(run.finish_unread(std::chrono::seconds(10)).exit_code, 128 + SIGTERM);
}

BOOST_AUTO_TEST_CASE(on_a_terminal_rank_0_draws_and_the_others_write_above) {
  cli_setup setup;
  setup.on_terminal = true;
  setup.arguments = launch_shell({"-n", "2"},
                                 "test -t 1 && t=yes || t=no; if [ $RANK = 0 ]; then "
                                 "printf '\\rstep 1'; sleep 0.4; printf '\\rstep 2'; sleep 0.4; "
                                 "printf '\\rterminal %s\\n' $t; else sleep 0.2; echo other; fi");
  const auto run = run_cli(setup);
  const std::string erase = "\r\x1b[K";
  BOOST_CHECK_EQUAL(run.out, "[0] step 1" + erase + "[1] other\n[0] step 1" + erase + "[0] step 2" +
                                 erase + "[0] terminal yes\n");
}

BOOST_AUTO_TEST_CASE(the_last_words_of_a_rank_stand_before_the_report_of_its_end) {
  for (int round = 0; round < 5; ++round) {
    const auto run = run_cli(launch_shell({"-n", "16"}, "echo why >&2; exit 5"));
    BOOST_CHECK_EQUAL(run.exit_code, 5);
    const std::string report = "troupe: error: rank ";
    const std::size_t at = run.error.find(report);
    BOOST_REQUIRE(at != std::string::npos);
    const std::size_t end = run.error.find(' ', at + report.size());
    const std::string rank = run.error.substr(at + report.size(), end - at - report.size());
    BOOST_CHECK_MESSAGE(run.error.find("[" + rank + "] why\n") < at, run.error);
  }
}
