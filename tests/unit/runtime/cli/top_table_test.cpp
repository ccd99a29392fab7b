#define BOOST_TEST_MODULE top_table
#include "runtime/cli/top_table.hpp"

#include <boost/test/unit_test.hpp>

#include "runtime/json_text.hpp"

namespace troupe::cli {
namespace {

using namespace std::chrono_literals;

rank_dump dump_of(std::uint32_t rank, instant at) {
  rank_dump d;
  d.self = {rank};
  d.process = 100 + rank;
  d.phase = endpoint_phase::joined;
  d.taken_at = at;
  d.worker.last_round = at;
  return d;
}

void add(rank_dump& d, std::uint64_t serial, instant queued, instant ended, duration waited = {}) {
  operation_record r;
  r.serial = serial;
  r.queued = r.started = queued;
  r.ended = ended;
  r.phase = ended == instant{} ? operation_phase::current : operation_phase::past;
  r.waited_for_peers = waited;
  r.waits_for = {rank{7}};
  r.waits_for_count = 1;
  d.operations.push_back(r);
}

BOOST_AUTO_TEST_CASE(rates_are_of_what_ended_between_the_dumps) {
  auto before = dump_of(0, instant(10s)), now = dump_of(0, instant(12s));
  add(before, 1, instant(9s), instant(9500ms));
  add(now, 1, instant(9s), instant(9500ms));
  add(now, 2, instant(10s), instant(11s), 500ms);
  add(now, 3, instant(11s), instant(11500ms), 500ms);
  const auto rows = top_rows({before}, {now});
  BOOST_REQUIRE(rows.size() == 1u);
  BOOST_TEST(rows[0].operations_per_second == 1.0);
  BOOST_TEST(rows[0].waiting_share == 0.5);
  BOOST_TEST(rows[0].in_flight == 0u);
}

BOOST_AUTO_TEST_CASE(the_oldest_operation_in_flight_is_shown_with_whom_it_waits_for) {
  auto d = dump_of(3, instant(10s));
  add(d, 1, instant(4s), {});
  add(d, 2, instant(6s), instant(7s));
  add(d, 3, instant(8s), {});
  const auto rows = top_rows({}, {d});
  BOOST_TEST(rows[0].in_flight == 2u);
  BOOST_TEST(rows[0].oldest_seconds == 6.0);
  BOOST_TEST(rows[0].waits_for == "7");
  BOOST_TEST(rows[0].operations_per_second == 0.0);
}

BOOST_AUTO_TEST_CASE(trouble_is_said) {
  auto failed = dump_of(0, instant(10s)), late = dump_of(1, instant(10s)),
       asleep = dump_of(2, instant(10s));
  failed.communicators.emplace_back().id = {4};
  failed.communicators[0].failed = errc::mismatch;
  late.worker.last_round = asleep.worker.last_round = instant(5s);
  asleep.worker.parked = true;
  const auto rows = top_rows({}, {failed, late, asleep});
  BOOST_TEST(rows[0].trouble == "communicator 4: mismatch");
  BOOST_TEST(rows[1].trouble == "its worker is stuck");
  BOOST_TEST(rows[2].trouble == "");
}

BOOST_AUTO_TEST_CASE(rows_sort_worst_first_and_filter_by_text_or_number) {
  std::vector<top_row> rows(3);
  for (std::uint32_t r = 0; r < 3; ++r)
    rows[r].rank = r;
  rows[1].oldest_seconds = 9;
  rows[2].waiting_share = rows[0].waiting_share = 0.9;
  sort_rows(rows, top_order::oldest);
  BOOST_TEST(rows[0].rank == 1u);
  sort_rows(rows, top_order::rank);
  BOOST_TEST(rows[0].rank == 0u);
  sort_rows(rows, top_order::waiting);
  BOOST_TEST(rows[0].rank == 1u);
  rows[0].operation = "barrier";
  auto some = rows;
  filter_rows(some, "barr");
  BOOST_REQUIRE(some.size() == 1u);
  BOOST_TEST(some[0].rank == 1u);
  filter_rows(rows, "2");
  BOOST_TEST(rows.size() == 1u);
}

BOOST_AUTO_TEST_CASE(the_table_keeps_to_the_screen) {
  std::vector<top_row> rows(100);
  const auto text = describe(rows, 10, 80);
  std::size_t lines = 0;
  for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != text.npos; at = end + 1, ++lines)
    BOOST_TEST(end - at <= 80u);
  BOOST_TEST(lines == 12u);
  BOOST_TEST(text.find("90 more") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(json_has_every_row) {
  const auto read = parse_json(to_json(std::vector<top_row>(5)));
  BOOST_REQUIRE(read.has_value());
  BOOST_TEST(read->items().size() == 5u);
  BOOST_TEST(*read->items()[0].find("in_flight")->count() == 0u);
}

}  // namespace
}  // namespace troupe::cli
