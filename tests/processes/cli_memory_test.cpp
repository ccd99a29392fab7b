#define BOOST_TEST_MODULE cli_memory
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <fstream>
#include <iterator>

#include "runtime/cli/memory_report.hpp"
#include "tests/processes/cli_process.hpp"

using namespace troupe::tests;

namespace {

using words = std::vector<std::string>;
using troupe::memory_purpose;
using troupe::cli::memory_case;

std::vector<memory_case> measure(words more) {
  const std::string path = "cli_memory_test." + std::to_string(::getpid()) + ".json";
  words arguments{"bench", "memory", "--timeout", "120", "--json", path};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const auto run = run_cli(arguments);
  BOOST_REQUIRE_MESSAGE(run.exit_code == 0, run.out << run.error);
  BOOST_TEST(run.error == "");
  std::ifstream file(path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  ::unlink(path.c_str());
  const auto rows = troupe::cli::parse_json_rows(text);
  BOOST_REQUIRE(rows.has_value());
  auto cases = troupe::cli::memory_cases_of(*rows);
  BOOST_REQUIRE(cases.has_value());
  BOOST_TEST(run.out == troupe::cli::describe_memory(*cases));
  return *cases;
}

/// Names most of what malloc counts: what is missing is small beside it.
void check_ledger(const memory_case& used) {
  BOOST_REQUIRE(used.unaccounted.has_value());
  const auto whole = static_cast<std::int64_t>(used.mean.heap_bytes);
  BOOST_TEST(*used.unaccounted > -whole / 4);
  BOOST_TEST(*used.unaccounted < whole / 4);
}

}  // namespace

BOOST_AUTO_TEST_CASE(processes_over_shared_memory_hold_segments_and_what_malloc_says) {
  const auto cases = measure({"-n", "2"});
  BOOST_REQUIRE_EQUAL(cases.size(), 2u);
  BOOST_TEST(cases[0].state == "idle");
  BOOST_TEST(cases[1].state == "used");
  BOOST_TEST(cases[1].lanes == "shm");
  BOOST_TEST(cases[1].mean.ledger[memory_purpose::segments] > 0u);
  BOOST_TEST(cases[1].mean.ledger[memory_purpose::links] > 0u);
  check_ledger(cases[1]);
}

BOOST_AUTO_TEST_CASE(processes_over_sockets_hold_buffers_and_no_segment) {
  const auto cases = measure({"-n", "3", "--lanes", "tcp"});
  BOOST_REQUIRE_EQUAL(cases.size(), 2u);
  BOOST_TEST(cases[1].mean.ledger[memory_purpose::segments] == 0u);
  BOOST_TEST(cases[1].mean.ledger[memory_purpose::lanes] > 0u);
  check_ledger(cases[1]);
}

BOOST_AUTO_TEST_CASE(simulated_ranks_have_a_ledger_and_no_process_of_their_own) {
  const auto cases = measure({"--simulated", "16"});
  BOOST_REQUIRE_EQUAL(cases.size(), 2u);
  BOOST_TEST(cases[1].world == "simulated");
  BOOST_TEST(!cases[1].unaccounted.has_value());
  BOOST_TEST(cases[1].mean.ledger[memory_purpose::address_book] >= 16u * 24u);
}
