#define BOOST_TEST_MODULE memory_report
#include "runtime/cli/memory_report.hpp"

#include <boost/test/unit_test.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace troupe::cli {
namespace {

memory_sample sample_of(std::uint64_t links, std::uint64_t segments, std::uint64_t heap) {
  memory_sample out;
  out.ledger.bytes[static_cast<std::size_t>(memory_purpose::links)] = links;
  out.ledger.bytes[static_cast<std::size_t>(memory_purpose::segments)] = segments;
  out.heap_bytes = heap;
  out.resident_bytes = 2 * heap;
  return out;
}

memory_case two_ranks() {
  const std::vector<memory_sample> before{sample_of(0, 0, 1000), sample_of(0, 0, 1000)};
  const std::vector<memory_sample> now{sample_of(500, 4096, 1800), sample_of(700, 4096, 1800)};
  auto out = make_memory_case(now, before);
  out.world = "processes";
  out.lanes = "shm";
  out.state = "idle";
  return out;
}

BOOST_AUTO_TEST_CASE(what_the_heap_took_and_no_purpose_names_is_the_difference) {
  // Segments are mapped: they are no part of the heap.
  BOOST_TEST(sample_of(500, 4096, 1800).unaccounted(sample_of(0, 0, 1000)) == 300);
  BOOST_TEST(sample_of(0, 0, 900).unaccounted(sample_of(0, 0, 1000)) == -100);
}

BOOST_AUTO_TEST_CASE(a_case_has_means_and_the_rank_that_holds_most) {
  const auto both = two_ranks();
  BOOST_TEST(both.rank_count == 2u);
  BOOST_TEST(both.mean.ledger[memory_purpose::links] == 600u);
  BOOST_TEST(both.mean.ledger[memory_purpose::segments] == 4096u);
  BOOST_TEST(both.mean.heap_bytes == 1800u);
  BOOST_TEST(*both.unaccounted == 200);
  BOOST_TEST(both.largest_total == 4796u);
}

BOOST_AUTO_TEST_CASE(the_table_has_a_row_for_every_purpose_and_a_column_for_every_case) {
  auto simulated = two_ranks();
  simulated.unaccounted.reset();
  const auto text = describe_memory({two_ranks(), simulated});
  std::istringstream lines(text);
  std::size_t purposes = 0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::vector<std::string> columns;
    for (std::string word; words >> word;)
      columns.push_back(word);
    if (line.front() == '#') continue;
    ++purposes;
    BOOST_TEST(columns.size() == 3u, line);
  }
  BOOST_TEST(purposes == memory_purpose_count);
  BOOST_TEST(text.find("# ledger                    4696          4696\n") != std::string::npos,
             text);
  BOOST_TEST(text.find("# not in it                  200             -\n") != std::string::npos,
             text);
  BOOST_TEST(text.find("# resident                  3600             -\n") != std::string::npos,
             text);
}

BOOST_AUTO_TEST_CASE(what_was_written_is_read_again) {
  auto simulated = two_ranks();
  simulated.world = "simulated";
  simulated.unaccounted.reset();
  const std::vector<memory_case> cases{two_ranks(), simulated};
  const auto rows = parse_json_rows(memory_json(cases));
  BOOST_REQUIRE(rows.has_value());
  const auto again = memory_cases_of(*rows);
  BOOST_REQUIRE(again.has_value());
  BOOST_TEST(memory_json(*again) == memory_json(cases));
  BOOST_TEST(!(*again)[1].unaccounted.has_value());
}

BOOST_AUTO_TEST_CASE(a_row_without_a_purpose_is_refused_by_its_name) {
  auto text = memory_json({two_ranks()});
  const auto at = text.find("\"rings_bytes\"");
  text.replace(at, 13, "\"other\"");
  const auto rows = parse_json_rows(text);
  BOOST_REQUIRE(rows.has_value());
  const auto cases = memory_cases_of(*rows);
  BOOST_REQUIRE(!cases.has_value());
  BOOST_TEST(cases.error().message.find("rings_bytes") != std::string::npos, cases.error().message);
}

BOOST_AUTO_TEST_CASE(the_process_sees_what_it_allocates) {
  const auto before = sample_process({});
  const std::vector<std::byte> held(8 << 20, std::byte{1});
  const auto after = sample_process({});
  BOOST_TEST(after.heap_bytes - before.heap_bytes >= held.size());
  BOOST_TEST(after.resident_bytes > 0u);
}

}  // namespace
}  // namespace troupe::cli
