#define BOOST_TEST_MODULE load_errors
#include "config/load.hpp"

#include <unistd.h>
#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <initializer_list>

namespace troupe::config {
namespace {

template <class Outcome>
std::string message_of(const Outcome& result) {
  BOOST_REQUIRE(!result.has_value());
  BOOST_TEST((result.error().code() == errc::bad_configuration));
  BOOST_TEST(result.error().message.find('\n') == std::string::npos, "one line");
  return result.error().message;
}

std::string file_error(std::string_view text) {
  return message_of(load_text(text, "job.toml"));
}

std::string environment_error(std::string name, std::string text) {
  return message_of(
      load({.environment = environment_variables{{std::move(name), std::move(text)}}}));
}

std::string code_error(std::string name, std::string text) {
  return message_of(load(
      {.settings = {{std::move(name), std::move(text)}}, .environment = environment_variables{}}));
}

void expect(const std::string& message, std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts)
    BOOST_TEST(message.find(part) != std::string::npos, '"' << part << "\" in: " << message);
}

BOOST_AUTO_TEST_CASE(an_unknown_key_names_file_line_nearest_name_range_and_unit) {
  expect(file_error("[transport]\n\nsegment_byte = 4096\n"),
         {"job.toml:3: ", "unknown option transport.segment_byte;",
          "nearest: transport.segment_bytes", "4KiB to 64MiB", "unit: bytes"});
}

BOOST_AUTO_TEST_CASE(a_key_of_another_section_names_its_section) {
  expect(file_error("[tcp]\nsegment_bytes = 4096\n"),
         {"job.toml:2: ", "nearest: transport.segment_bytes"});
  expect(file_error("segment_bytes = 4096\n"),
         {"job.toml:1: ", "outside of any [section]", "nearest: transport.segment_bytes"});
}

BOOST_AUTO_TEST_CASE(an_unknown_section_is_an_error_even_if_it_is_empty) {
  expect(file_error("# x\n[transprot]\n"),
         {"job.toml:2: ", "unknown section [transprot]", "nearest: [transport]"});
  expect(file_error("[transport.deeper]\nx = 1\n"), {"job.toml:1: ", "transport.deeper"});
}

BOOST_AUTO_TEST_CASE(a_section_written_as_a_value_or_a_list_is_an_error) {
  expect(file_error("tcp = 5\n"), {"job.toml:1: ", "tcp is a section", "[tcp]"});
  expect(file_error("[[tcp]]\nbacklog = 5\n"), {"job.toml:1: ", "tcp is a section", "[tcp]"});
}

BOOST_AUTO_TEST_CASE(a_value_out_of_range_names_file_line_value_range_and_unit) {
  expect(file_error("[transport]\nsegment_bytes = 100\n"),
         {"job.toml:2: ", "transport.segment_bytes = \"100\"", "out of range", "4KiB to 64MiB",
          "unit: bytes"});
  expect(file_error("[tcp]\nbacklog = -1\n"), {"job.toml:2: ", "\"-1\"", "1 to 65535"});
  expect(file_error("[transport]\nwrite_timeout = \"1h\"\n"), {"job.toml:2: ", "10ms to 10m"});
}

BOOST_AUTO_TEST_CASE(a_wrong_type_names_file_line_and_the_right_type) {
  expect(file_error("[tcp]\nbacklog = \"5\"\n"), {"job.toml:2: ", "tcp.backlog", "integer"});
  expect(file_error("[tcp]\nbacklog = 5.0\n"), {"job.toml:2: ", "tcp.backlog", "with a point"});
  expect(file_error("[tcp]\nbacklog = [5]\n"), {"job.toml:2: ", "tcp.backlog is a list"});
  expect(file_error("[tcp]\nbacklog = true\n"), {"job.toml:2: ", "is a boolean"});
  expect(file_error("[tcp]\nbacklog = 2024-01-01\n"), {"job.toml:2: ", "is a date or time"});
  expect(file_error("[tcp]\nbacklog = {}\n"), {"job.toml:2: ", "is a section"});
  expect(file_error("[worker]\ncpus = 3\n"), {"job.toml:2: ", "worker.cpus", "in quotes"});
}

BOOST_AUTO_TEST_CASE(a_duration_without_unit_names_the_fix) {
  expect(file_error("[transport]\nwrite_timeout = 5\n"),
         {"job.toml:2: ", "transport.write_timeout", "has no unit", "\"5s\""});
}

BOOST_AUTO_TEST_CASE(the_first_error_of_the_file_is_reported) {
  expect(file_error("[worker]\nx = 1\n[bootstrap]\ny = 1\n"), {"job.toml:2: "});
}

BOOST_AUTO_TEST_CASE(an_unknown_variable_names_itself_and_the_nearest) {
  expect(environment_error("TROUPE_TRANSPORT_SEGMENT_BYTE", "4096"),
         {"TROUPE_TRANSPORT_SEGMENT_BYTE;", "nearest: TROUPE_TRANSPORT_SEGMENT_BYTES",
          "4KiB to 64MiB", "unit: bytes"});
}

BOOST_AUTO_TEST_CASE(a_bad_variable_names_itself_option_range_and_unit) {
  expect(environment_error("TROUPE_TRANSPORT_SEGMENT_BYTES", "100"),
         {"TROUPE_TRANSPORT_SEGMENT_BYTES", "transport.segment_bytes = \"100\"", "4KiB to 64MiB",
          "unit: bytes"});
  expect(environment_error("TROUPE_TCP_BACKLOG", ""), {"TROUPE_TCP_BACKLOG", "not a whole number"});
}

BOOST_AUTO_TEST_CASE(an_unknown_name_in_code_names_itself_and_the_nearest) {
  expect(code_error("transport.segment_byte", "4096"),
         {"code: ", "transport.segment_byte;", "nearest: transport.segment_bytes", "unit: bytes"});
  expect(code_error("transport.segment_bytes", "big"),
         {"code: ", "\"big\"", "not a whole number", "4KiB to 64MiB"});
}

BOOST_AUTO_TEST_CASE(an_error_in_a_place_that_another_overrides_is_still_an_error) {
  const auto result = load({.settings = {{"tcp.backlog", "5"}},
                            .environment = environment_variables{{"TROUPE_TCP_BACKLOG", "-5"}}});
  expect(message_of(result), {"TROUPE_TCP_BACKLOG"});
}

BOOST_AUTO_TEST_CASE(two_options_that_contradict_name_both_and_their_places) {
  expect(file_error("[transport]\neager_bytes = \"512KiB\"\n[tier_same_zone]\nbytes = \"4KiB\"\n"),
         {"tier_same_zone.bytes = 4KiB (job.toml:4)",
          "tier_same_zone.segment_bytes = 1MiB (default)"});
}

BOOST_AUTO_TEST_CASE(no_error_ever_shows_a_secret) {
  for (const std::string& message :
       {environment_error("TROUPE_BOOTSTRAP_SECRET", "hunter2\x01"),
        code_error("bootstrap.secret", "hunter2\x01"), file_error("[bootstrap]\nsecret = 77777777"),
        file_error("[bootstrap]\nsecret = hunter2\n"),
        file_error("[bootstrap]\nsecret = \"hunter2\n"),
        file_error("[bootstrap]\nsecert = \"hunter2\""),
        environment_error("TROUPE_BOOTSTRAP_SECERT", "hunter2"),
        file_error("[bootstrap]\nsecret = \"hunter2\"\nport_first = 9\n")}) {
    BOOST_TEST(message.find("hunter2") == std::string::npos, message);
    BOOST_TEST(message.find("7777") == std::string::npos, message);
  }
}

BOOST_AUTO_TEST_CASE(hostile_names_and_values_stay_on_one_short_line) {
  const std::string long_name = "TROUPE_" + std::string(100'000, 'A');
  BOOST_TEST(environment_error(long_name, "x").size() < 400u);
  BOOST_TEST(environment_error("TROUPE_\n\x1b[31m", "x").find('\x1b') == std::string::npos);
  BOOST_TEST(code_error("tcp.backlog", std::string(100'000, '9')).size() < 400u);
  BOOST_TEST(file_error("\"a\\nb\" = 1").find("a?b") != std::string::npos);
  BOOST_TEST(file_error("[\"a\\nb\"]").find("a?b") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_file_that_cannot_be_read_names_path_who_named_it_and_cause) {
  expect(message_of(
             load({.config_file = "/nonexistent/t.toml", .environment = environment_variables{}})),
         {"/nonexistent/t.toml", "named by code", "No such file"});
  expect(environment_error("TROUPE_CONFIG", "/nonexistent/t.toml"),
         {"/nonexistent/t.toml", "named by TROUPE_CONFIG", "No such file"});
  expect(environment_error("TROUPE_CONFIG", "/tmp"), {"/tmp", "not a regular file"});
  expect(environment_error("TROUPE_CONFIG", "/dev/zero"), {"/dev/zero", "not a regular file"});
}

}  // namespace
}  // namespace troupe::config
