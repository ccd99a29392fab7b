#define BOOST_TEST_MODULE process_end
#include "runtime/cli/process_end.hpp"

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <vector>

using namespace troupe::cli;

BOOST_AUTO_TEST_CASE(an_exit_code_is_the_shells_and_a_signal_is_128_more) {
  BOOST_CHECK_EQUAL(shell_code({process_end::kind::exited, 7}), 7);
  BOOST_CHECK_EQUAL(shell_code({process_end::kind::killed, SIGSEGV}), 128 + SIGSEGV);
}

BOOST_AUTO_TEST_CASE(an_end_is_described_with_code_or_signal_name_and_core) {
  BOOST_CHECK_EQUAL(describe({process_end::kind::exited, 3}), "exit code 3");
  BOOST_CHECK_EQUAL(describe({process_end::kind::killed, SIGKILL}), "killed by SIGKILL");
  BOOST_CHECK_EQUAL(describe({process_end::kind::killed, SIGSEGV, true}),
                    "killed by SIGSEGV (core dumped)");
  BOOST_CHECK_EQUAL(signal_name(64), "signal 64");
}

BOOST_AUTO_TEST_CASE(ranks_are_listed_as_ranges_and_the_list_is_bounded) {
  BOOST_CHECK_EQUAL(describe_ranks({}), "");
  BOOST_CHECK_EQUAL(describe_ranks(std::vector<std::uint32_t>{4}), "4");
  BOOST_CHECK_EQUAL(describe_ranks(std::vector<std::uint32_t>{0, 1, 2, 7, 9, 10}), "0-2, 7, 9-10");
  std::vector<std::uint32_t> odd;
  for (std::uint32_t r = 1; r < 100; r += 2)
    odd.push_back(r);
  BOOST_CHECK_EQUAL(describe_ranks(odd), "1, 3, 5, 7, 9, 11, 13, 15 and 42 more");
}

BOOST_AUTO_TEST_CASE(seconds_have_a_fraction_only_if_they_need_it) {
  BOOST_CHECK_EQUAL(describe_seconds(std::chrono::seconds(5)), "5 s");
  BOOST_CHECK_EQUAL(describe_seconds(std::chrono::milliseconds(1204)), "1.204 s");
}
