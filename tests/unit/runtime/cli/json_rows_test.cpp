#define BOOST_TEST_MODULE json_rows
#include "runtime/cli/json_rows.hpp"

#include <boost/test/unit_test.hpp>

#include "runtime/cli/bench_table.hpp"

using namespace troupe;
using namespace troupe::cli;

BOOST_AUTO_TEST_CASE(rows_that_bench_writes_are_read_back) {
  bench_row row;
  row.shape = {.count = 256, .send_bytes = 1024, .receive_bytes = 1024};
  row.out_of_place = bench_measure{.time_us = 10.5, .p50_us = 9.25, .wrong = {}};
  row.in_place = bench_measure{.time_us = 11, .p50_us = 10, .wrong = 3};
  bench_heading heading;
  heading.lanes = "tcp";
  const auto rows = parse_json_rows(table_json(heading, {row, row}));
  BOOST_REQUIRE(rows.has_value());
  BOOST_REQUIRE_EQUAL(rows->size(), 4u);
  BOOST_TEST((*rows)[0].text("lanes").value() == "tcp");
  BOOST_TEST((*rows)[0].text("operation").value() == "all_reduce");
  BOOST_TEST((*rows)[0].number("p50_us").value() == 9.25);
  BOOST_TEST(!(*rows)[0].number("wrong").has_value(), "null is not there");
  BOOST_TEST((*rows)[1].number("wrong").value() == 3);
}

BOOST_AUTO_TEST_CASE(spaces_escapes_and_numbers_of_any_form_are_understood) {
  const auto rows = parse_json_rows(
      " [ {\"a\" : \"x\\\"\\\\\\n\" ,\n\"b\":-1.5e3,\"c\":null,\"d\":true} , {} ]\n");
  BOOST_REQUIRE(rows.has_value());
  BOOST_REQUIRE_EQUAL(rows->size(), 2u);
  BOOST_TEST((*rows)[0].text("a").value() == "x\"\\\n");
  BOOST_TEST((*rows)[0].number("b").value() == -1500);
  BOOST_TEST((*rows)[0].size() == 3u);
  BOOST_TEST((*rows)[1].size() == 0u);
  BOOST_TEST(parse_json_rows("[]")->empty());
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_named_by_its_place) {
  const auto message = [](const char* text) {
    const auto rows = parse_json_rows(text);
    return rows ? std::string("read") : rows.error().message;
  };
  BOOST_TEST(message("").find("byte 1 is not '['") != std::string::npos);
  BOOST_TEST(message("[{\"a\":1} {\"a\":1}]").find("byte 10 is not ','") != std::string::npos);
  BOOST_TEST(message("[{\"a\" 1}]").find("byte 7 is not ':'") != std::string::npos);
  BOOST_TEST(message("[{\"a\":x}]").find("byte 7 is not a text") != std::string::npos);
  BOOST_TEST(message("[{\"a\":1,}]").find("byte 9 is not '\"'") != std::string::npos);
  BOOST_TEST(message("[{\"a\":null \"b\":1}]").find("byte 12 is not ','") != std::string::npos);
  BOOST_TEST(message("[{\"a\":\"\\q\"}]").find("an escape") != std::string::npos);
  BOOST_TEST(message("[{\"a\":\"").find("the end of a text") != std::string::npos);
  BOOST_TEST(message("[] x").find("byte 4 is not the end") != std::string::npos);
  BOOST_TEST(message("[{\"a\":[]}]").find("byte 7") != std::string::npos, "rows are flat");
}

BOOST_AUTO_TEST_CASE(a_field_of_another_kind_is_not_there) {
  const auto rows = parse_json_rows("[{\"a\":\"1\",\"b\":1}]");
  BOOST_TEST(rows->front().number("a").error().message == "a row has no number \"a\"");
  BOOST_TEST(rows->front().text("b").error().message == "a row has no text \"b\"");
  BOOST_TEST((rows->front().text("c").error().code() == errc::bad_argument));
}
