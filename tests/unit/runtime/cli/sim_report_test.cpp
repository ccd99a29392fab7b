#define BOOST_TEST_MODULE sim_report
#include "runtime/cli/sim_report.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::cli;
using namespace std::chrono_literals;

namespace {

simulation_options options_of_a_run() {
  simulation_options options;
  options.rank_count = 1024;
  options.repetition_count = 2;
  return options;
}

simulation_report report_of_a_run() {
  simulation_report report;
  report.join_time = 1'500us;
  report.operation_time = 2'500us;
  report.operation_messages = 20'480;
  report.largest_fan_in = 12;
  report.trace_hash = 0xabcdef;
  return report;
}

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_CASE(times_are_in_the_unit_that_fits) {
  BOOST_CHECK_EQUAL(describe_time(999ns), "999 ns");
  BOOST_CHECK_EQUAL(describe_time(1'500ns), "1.500 us");
  BOOST_CHECK_EQUAL(describe_time(2'500us), "2.500 ms");
  BOOST_CHECK_EQUAL(describe_time(3s), "3.000 s");
}

BOOST_AUTO_TEST_CASE(a_report_says_time_messages_fan_in_and_hash) {
  const std::string text = describe_report(options_of_a_run(), report_of_a_run(), 250ms);
  BOOST_CHECK(has_line(text, "join, virtual           1.500 ms"));
  BOOST_CHECK(has_line(text, "operations, virtual     2.500 ms"));
  BOOST_CHECK(has_line(text, "one operation, virtual  1.250 ms"));
  BOOST_CHECK(has_line(text, "per rank and operation  10.00 actor messages"));
  BOOST_CHECK(has_line(text, "largest fan-in          12 connections"));
  BOOST_CHECK(has_line(text, "wrong elements          0"));
  BOOST_CHECK(has_line(text, "trace hash              0000000000abcdef"));
  BOOST_CHECK(has_line(text, "wall time               0.250 s"));
}

BOOST_AUTO_TEST_CASE(json_has_the_same_facts) {
  const std::string text = report_json(options_of_a_run(), report_of_a_run(), 250ms);
  for (const char* part : {"\"ranks\": 1024", "\"operations_us\": 2500.000",
                           "\"messages_per_rank_and_operation\": 10.000000",
                           "\"largest_fan_in\": 12", "\"trace_hash\": \"0000000000abcdef\""})
    BOOST_CHECK_MESSAGE(text.find(part) != std::string::npos, part);
}
