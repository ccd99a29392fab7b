#define BOOST_TEST_MODULE option_text
#include "config/option_text.hpp"

#include <boost/test/unit_test.hpp>

namespace troupe::config {
namespace {

using form = written_value::form;

const option_description& option(std::string_view name) {
  return *find_option(name);
}

std::string problem_of(std::string_view name, written_value written) {
  const auto value = read_value(option(name), written);
  return value ? "" : value.error();
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

BOOST_AUTO_TEST_CASE(a_size_may_be_an_integer_or_text_with_a_unit) {
  for (const written_value& written :
       {written_value{form::integer, "262144"}, written_value{form::string, "256KiB"},
        written_value{form::plain, "262144"}, written_value{form::plain, "256KiB"}}) {
    const auto value = read_value(option("transport.segment_bytes"), written);
    BOOST_REQUIRE(value.has_value());
    BOOST_TEST(std::get<std::int64_t>(*value) == 262144);
  }
}

BOOST_AUTO_TEST_CASE(a_duration_needs_its_unit_in_every_form) {
  for (const form f : {form::integer, form::string, form::plain}) {
    const std::string problem = problem_of("transport.write_timeout", {f, "5"});
    BOOST_TEST(has(problem, "write \"5s\""), problem);
    BOOST_TEST(has(problem, "10ms to 10m"), problem);
  }
}

BOOST_AUTO_TEST_CASE(a_wrong_type_is_an_error_that_names_the_right_one) {
  BOOST_TEST(has(problem_of("tcp.backlog", {form::string, "5"}), "without quotes"));
  BOOST_TEST(has(problem_of("tcp.congestion_control", {form::integer, "5"}), "in quotes"));
  BOOST_TEST(has(problem_of("tcp.backlog", {form::other, "a boolean"}), "is a boolean"));
  BOOST_TEST(has(problem_of("tcp.backlog", {form::other, "a boolean"}), "write an integer"));
  BOOST_TEST(has(problem_of("worker.spin", {form::other, "a list"}), "write quoted text"));
}

BOOST_AUTO_TEST_CASE(a_value_out_of_range_names_range_and_unit) {
  const std::string problem = problem_of("transport.segment_bytes", {form::plain, "100"});
  BOOST_TEST(has(problem, "out of range"), problem);
  BOOST_TEST(has(problem, "4KiB to 64MiB"), problem);
  BOOST_TEST(has(problem, "unit: bytes"), problem);
  BOOST_TEST(has(problem_of("tcp.backlog", {form::integer, "-1"}), "1 to 65535"));
}

BOOST_AUTO_TEST_CASE(a_power_of_two_is_required_where_the_table_says_so) {
  const std::string problem = problem_of("transport.window_segment_count", {form::integer, "1000"});
  BOOST_TEST(has(problem, "not a power of two"), problem);
  BOOST_TEST(has(problem, "16 to 65536, a power of two"), problem);
  BOOST_TEST(problem_of("transport.window_segment_count", {form::integer, "2048"}) == "");
}

BOOST_AUTO_TEST_CASE(a_multiple_of_64_is_required_where_the_table_says_so) {
  BOOST_TEST(has(problem_of("collective.chunk_bytes", {form::integer, "100"}), "multiple of 64"));
  BOOST_TEST(problem_of("collective.chunk_bytes", {form::integer, "128"}) == "");
}

BOOST_AUTO_TEST_CASE(zero_is_allowed_outside_the_range_where_it_means_unset) {
  BOOST_TEST(problem_of("tcp.send_buffer_bytes", {form::integer, "0"}) == "");
  BOOST_TEST(has(problem_of("tcp.send_buffer_bytes", {form::integer, "1"}), "or 0: the system"));
  BOOST_TEST(has(problem_of("tcp.backlog", {form::integer, "0"}), "out of range"));
}

BOOST_AUTO_TEST_CASE(a_text_with_choices_is_one_of_them) {
  const std::string problem = problem_of("transport.lanes", {form::string, "carrier-pigeon"});
  BOOST_TEST(has(problem, "one of: auto tcp shm"), problem);
  BOOST_TEST(has(problem_of("transport.lanes", {form::string, ""}), "is empty"));
}

BOOST_AUTO_TEST_CASE(a_text_with_a_form_has_it) {
  BOOST_TEST(has(problem_of("bootstrap.rendezvous", {form::plain, "node1"}), "host:port"));
  BOOST_TEST(has(problem_of("worker.cpus", {form::plain, "3-1"}), "0-3,8"));
  BOOST_TEST(problem_of("worker.cpus", {form::plain, ""}) == "");
}

BOOST_AUTO_TEST_CASE(a_text_is_printable_and_bounded) {
  BOOST_TEST(has(problem_of("bootstrap.secret", {form::plain, "a\nb"}), "printable"));
  BOOST_TEST(has(problem_of("bootstrap.secret", {form::plain, std::string(256, 'a')}), "255"));
  BOOST_TEST(problem_of("bootstrap.secret", {form::plain, std::string(255, 'a')}) == "");
}

BOOST_AUTO_TEST_CASE(no_problem_of_a_secret_shows_it) {
  const std::string problem = problem_of("bootstrap.secret", {form::plain, "hunter2\x01"});
  BOOST_TEST(!problem.empty());
  BOOST_TEST(!has(problem, "hunter2"));
}

BOOST_AUTO_TEST_CASE(a_secret_prints_only_whether_it_is_set) {
  const option_description& secret = option("bootstrap.secret");
  BOOST_TEST(format_value(secret, std::string("hunter2")) == "(set)");
  BOOST_TEST(format_value(secret, std::string()) == "(not set)");
  BOOST_TEST(format_toml(secret, std::string("hunter2")) == "\"(set)\"");
}

BOOST_AUTO_TEST_CASE(toml_text_is_quoted_and_escaped_and_numbers_are_bare) {
  BOOST_TEST(format_toml(option("tcp.backlog"), std::int64_t{5}) == "5");
  BOOST_TEST(format_toml(option("transport.segment_bytes"), std::int64_t{4097}) == "4097");
  BOOST_TEST(format_toml(option("transport.segment_bytes"), std::int64_t{4096}) == "\"4KiB\"");
  BOOST_TEST(format_toml(option("worker.spin"), std::int64_t{0}) == "\"0s\"");
  BOOST_TEST(format_toml(option("worker.cpus"), std::string(R"(a"b\c)")) == R"("a\"b\\c")");
  BOOST_TEST(format_toml(option("worker.cpus"), std::string("3")) == "\"3\"");
}

}  // namespace
}  // namespace troupe::config
