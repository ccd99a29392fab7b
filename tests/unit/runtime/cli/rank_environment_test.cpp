#define BOOST_TEST_MODULE rank_environment
#include "runtime/cli/rank_environment.hpp"

#include "runtime/cli/emulated_nic.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>

using namespace troupe::cli;

namespace {

bool holds(const std::vector<std::string>& entries, const std::string& entry) {
  return std::find(entries.begin(), entries.end(), entry) != entries.end();
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_variable_that_must_hold_replaces_and_one_that_may_does_not) {
  const auto entries = merge_environment(
      {{"A", "1"}, {"B", "2"}, {"C", "3"}},
      {{"A", "9"}, {"B", "9", variable::rule::unless_set}, {"D", "9", variable::rule::unless_set}});
  const std::vector<std::string> expected{"A=9", "B=2", "C=3", "D=9"};
  BOOST_CHECK_EQUAL_COLLECTIONS(entries.begin(), entries.end(), expected.begin(), expected.end());
}

BOOST_AUTO_TEST_CASE(a_rank_learns_its_place_and_one_rank_alone_keeps_its_openmp_threads) {
  job_place place;
  place.rank_count = 4;
  place.port = 4711;
  const auto entries = merge_environment({}, rank_environment(place, 2));
  for (const char* entry :
       {"RANK=2", "LOCAL_RANK=2", "WORLD_SIZE=4", "LOCAL_WORLD_SIZE=4", "GROUP_RANK=0",
        "MASTER_ADDR=127.0.0.1", "MASTER_PORT=4711", "OMP_NUM_THREADS=1"})
    BOOST_CHECK_MESSAGE(holds(entries, entry), entry);
  place.rank_count = 1;
  BOOST_CHECK(!holds(merge_environment({}, rank_environment(place, 0)), "OMP_NUM_THREADS=1"));
}

BOOST_AUTO_TEST_CASE(the_config_variable_is_set_only_if_there_is_a_file) {
  job_place place;
  BOOST_CHECK(!holds(merge_environment({}, rank_environment(place, 0)), "TROUPE_CONFIG="));
  place.config_file = "a.toml";
  BOOST_CHECK(holds(merge_environment({}, rank_environment(place, 0)), "TROUPE_CONFIG=a.toml"));
}

BOOST_AUTO_TEST_CASE(emulation_goes_before_other_libraries_and_spreads_ranks_over_hosts) {
  job_place place;
  place.rank_count = 8;
  place.run_id = "ab";
  const emulation_request request{.is_wanted = true, .network_file = "/net.txt", .host_count = 3};
  const troupe::config::environment_variables inherited{{"LD_LIBRARY_PATH", "/own"}};
  const auto entries =
      merge_environment(inherited, emulation_environment(request, "/nic", place, 5, inherited));
  for (const char* entry : {"LD_LIBRARY_PATH=/nic:/own", "TROUPE_EMULATION_JOB=job-ab",
                            "TROUPE_EMULATION_HOST=1", "TROUPE_EMULATION_NETWORK=/net.txt"})
    BOOST_CHECK_MESSAGE(holds(entries, entry), entry);
  const auto last = merge_environment({}, emulation_environment(request, "/nic", place, 7, {}));
  BOOST_CHECK(holds(last, "LD_LIBRARY_PATH=/nic"));
  BOOST_CHECK(holds(last, "TROUPE_EMULATION_HOST=2"));
}

BOOST_AUTO_TEST_CASE(random_text_has_two_digits_a_byte_and_does_not_repeat) {
  const std::string first = random_text(32).value();
  BOOST_CHECK_EQUAL(first.size(), 64u);
  BOOST_CHECK(first.find_first_not_of("0123456789abcdef") == std::string::npos);
  BOOST_CHECK_NE(first, random_text(32).value());
}
