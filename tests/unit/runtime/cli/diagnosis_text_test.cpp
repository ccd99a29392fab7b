#define BOOST_TEST_MODULE diagnosis_text
#include "runtime/cli/diagnosis_text.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>

#include "runtime/json_text.hpp"

namespace troupe::cli {
namespace {

diagnosis example(std::uint32_t ranks) {
  diagnosis d;
  d.verdict = verdict_kind::never_joined;
  d.culprits = {rank{2}};
  d.communicator = {1};
  d.operation = {5};
  d.sentence = "Rank 2 never joined.";
  d.evidence = {"its last call was 4"};
  for (std::uint32_t r = 0; r < ranks; ++r)
    d.table.push_back({rank{r}, "current", "all_reduce", r == 2 ? "" : "rank 2"});
  return d;
}

BOOST_AUTO_TEST_CASE(the_sentence_comes_first_and_the_culprit_leads_the_table) {
  const auto text = describe(example(4), {"rank 3 did not answer"});
  BOOST_TEST(text.find("never_joined: Rank 2 never joined.\n") == 0u);
  BOOST_TEST(text.find("  - its last call was 4\n") != std::string::npos);
  BOOST_TEST(text.find("  - rank 3 did not answer\n") != std::string::npos);
  const auto culprit = text.find("\n> 2 "), other = text.find("\n  0 ");
  BOOST_TEST(culprit != std::string::npos);
  BOOST_TEST(culprit < other);
  BOOST_TEST(text.find(" \n") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_table_of_a_large_job_is_cut) {
  const auto text = describe(example(1000), {});
  BOOST_TEST(std::count(text.begin(), text.end(), '\n') < 50);
  BOOST_TEST(text.find("968 more ranks") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(json_has_every_rank) {
  const auto read = parse_json(to_json(example(1000), {"note"}));
  BOOST_REQUIRE(read.has_value());
  BOOST_TEST(*read->find("verdict")->text() == "never_joined");
  BOOST_TEST(*read->find("culprits")->items()[0].count() == 2u);
  BOOST_TEST(*read->find("operation")->count() == 5u);
  BOOST_TEST(read->find("ranks")->items().size() == 1000u);
  BOOST_TEST(*read->find("notes")->items()[0].text() == "note");
}

BOOST_AUTO_TEST_CASE(exit_codes_are_stable) {
  BOOST_TEST(exit_code_of(verdict_kind::all_good) == 0);
  BOOST_TEST(exit_code_of(verdict_kind::mismatched_call) == 11);
  BOOST_TEST(exit_code_of(verdict_kind::never_joined) == 15);
  BOOST_TEST(exit_code_of(verdict_kind::join_incomplete) == 20);
}

}  // namespace
}  // namespace troupe::cli
