#define BOOST_TEST_MODULE random_stream
#include <boost/test/unit_test.hpp>

#include "tests/processes/cli_process.hpp"

using namespace troupe::tests;

namespace {

/// `ranks` processes run the operations of these seeds.
void check(int ranks, int first_seed, int seeds) {
  const auto run = run_cli({"launch", "-n", std::to_string(ranks), "--timeout", "150", "--",
                            TROUPE_STREAM_RANK, std::to_string(first_seed), std::to_string(seeds)});
  BOOST_CHECK_MESSAGE(run.exit_code == 0, run.out << run.error);
  BOOST_CHECK_EQUAL(count_of("checked " + std::to_string(seeds) + " seeds", run.out), ranks);
}

}  // namespace

BOOST_AUTO_TEST_CASE(two_processes_agree_with_the_reference_in_every_bit) {
  check(2, 1, 12);
}

BOOST_AUTO_TEST_CASE(five_processes_agree_with_the_reference_in_every_bit) {
  check(5, 100, 6);
}

BOOST_AUTO_TEST_CASE(eight_processes_agree_with_the_reference_in_every_bit) {
  check(8, 200, 3);
}
