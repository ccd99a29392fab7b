#define BOOST_TEST_MODULE load
#include "config/load.hpp"

#include "config/option_text.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace troupe::config {
namespace {

using namespace std::chrono_literals;

/// A file that is gone when the test is.
class temporary_file {
 public:
  explicit temporary_file(std::string_view text) {
    char name[] = "/tmp/troupe_load_test_XXXXXX";
    path_ = ::mkdtemp(name);
    std::ofstream(path()) << text;
  }
  ~temporary_file() { std::filesystem::remove_all(path_); }
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;

  std::string path() const { return path_ + "/troupe.toml"; }

 private:
  std::string path_;
};

loaded_options loaded(const load_request& request) {
  auto result = load(request);
  BOOST_REQUIRE_MESSAGE(result.has_value(), (result ? "" : result.error().message));
  return *result;
}

BOOST_AUTO_TEST_CASE(nothing_set_gives_the_defaults_of_the_structs) {
  const loaded_options l = loaded({.environment = environment_variables{}});
  for (const section_description& section : sections()) {
    for (const option_description& option : section.entries) {
      BOOST_TEST((value_in(l.values, option) == default_value(option)), option.name);
      BOOST_TEST(to_string(l.origin_of(option.name)) == "default");
    }
  }
  BOOST_TEST(l.config_file == "");
}

BOOST_AUTO_TEST_CASE(code_goes_before_environment_before_file_before_default) {
  const temporary_file file(
      "[transport]\n"
      "segment_bytes = \"1MiB\"\n"
      "write_timeout = \"1s\"\n"
      "data_lane_count = 2\n");
  const loaded_options l = loaded({
      .config_file = file.path(),
      .settings = {{"transport.segment_bytes", "2MiB"}},
      .environment = environment_variables{{"TROUPE_TRANSPORT_SEGMENT_BYTES", "512KiB"},
                                           {"TROUPE_TRANSPORT_WRITE_TIMEOUT", "2s"}},
  });
  BOOST_TEST(l.values.transport.segment_bytes == 2u << 20);
  BOOST_TEST((l.values.transport.write_timeout == 2s));
  BOOST_TEST(l.values.transport.data_lane_count == 2u);
  BOOST_TEST(l.values.transport.eager_bytes == 16u * 1024);
  BOOST_TEST(to_string(l.origin_of("transport.segment_bytes")) == "code");
  BOOST_TEST(to_string(l.origin_of("transport.write_timeout")) ==
             "environment TROUPE_TRANSPORT_WRITE_TIMEOUT");
  BOOST_TEST(to_string(l.origin_of("transport.data_lane_count")) == file.path() + ":4");
  BOOST_TEST(to_string(l.origin_of("transport.eager_bytes")) == "default");
}

BOOST_AUTO_TEST_CASE(every_option_can_be_set_by_environment_and_by_code) {
  for (const section_description& section : sections()) {
    for (const option_description& option : section.entries) {
      const std::string text =
          option.shows == visibility::secret ? "" : format_value(option, default_value(option));
      const loaded_options l =
          loaded({.environment = environment_variables{{environment_name(option), text}}});
      BOOST_TEST((value_in(l.values, option) == default_value(option)), option.name);
      BOOST_TEST((l.origin_of(option.name).from == source::environment));
      const loaded_options c = loaded(
          {.settings = {{std::string(option.name), text}}, .environment = environment_variables{}});
      BOOST_TEST((c.origin_of(option.name).from == source::code));
    }
  }
}

BOOST_AUTO_TEST_CASE(values_reach_their_fields_in_their_units) {
  const auto l = load_text(
      "[bootstrap]\n"
      "secret = \"hunter2\"\n"
      "port_first = 30000\n"
      "port_last = 30999\n"
      "timeout = \"5m\"\n"
      "[collective]\n"
      "chunk_bytes = 4_194_304\n"
      "[worker]\n"
      "spin = \"0s\"\n"
      "cpus = \"0-3,8\"\n"
      "[metrics]\n"
      "listen = \"127.0.0.1:0\"\n",
      "f.toml");
  BOOST_REQUIRE_MESSAGE(l.has_value(), (l ? "" : l.error().message));
  BOOST_TEST(l->values.bootstrap.secret == "hunter2");
  BOOST_TEST(l->values.bootstrap.port_first == 30000);
  BOOST_TEST(l->values.bootstrap.port_last == 30999);
  BOOST_TEST((l->values.bootstrap.timeout == 5min));
  BOOST_TEST(l->values.collective.chunk_bytes == 4u << 20);
  BOOST_TEST((l->values.worker.spin == 0s));
  BOOST_TEST(l->values.worker.cpus == "0-3,8");
  BOOST_TEST(l->values.metrics.listen == "127.0.0.1:0");
}

BOOST_AUTO_TEST_CASE(the_environment_names_the_file_if_code_names_none) {
  const temporary_file file("[tcp]\nbacklog = 7\n");
  const temporary_file other("[tcp]\nbacklog = 8\n");
  const environment_variables variables{{"TROUPE_CONFIG", file.path()}};
  BOOST_TEST(loaded({.environment = variables}).values.tcp.backlog == 7u);
  BOOST_TEST(loaded({.environment = variables}).config_file == file.path());
  BOOST_TEST(loaded({.config_file = other.path(), .environment = variables}).values.tcp.backlog ==
             8u);
  BOOST_TEST(loaded({.environment = environment_variables{{"TROUPE_CONFIG", ""}}}).config_file ==
             "");
}

BOOST_AUTO_TEST_CASE(variables_of_others_and_reserved_ones_are_left_alone) {
  loaded({.environment = environment_variables{{"TROUPE_LOG", "debug"},
                                               {"TROUPE_SIM_SEED", "1"},
                                               {"TROUPE_EMULATION_JOB", "one"},
                                               {"TROUPER", "x"},
                                               {"PATH", "/bin"},
                                               {"troupe_tcp_backlog", "x"}}});
}

BOOST_AUTO_TEST_CASE(the_last_of_two_settings_in_code_holds) {
  const loaded_options l = loaded({.settings = {{"tcp.backlog", "1"}, {"tcp.backlog", "2"}},
                                   .environment = environment_variables{}});
  BOOST_TEST(l.values.tcp.backlog == 2u);
}

BOOST_AUTO_TEST_CASE(without_a_given_environment_the_process_is_asked) {
  ::setenv("TROUPE_TCP_BACKLOG", "99", 1);
  BOOST_TEST(process_environment().at("TROUPE_TCP_BACKLOG") == "99");
  const loaded_options l = loaded({});
  ::unsetenv("TROUPE_TCP_BACKLOG");
  BOOST_TEST(l.values.tcp.backlog == 99u);
  BOOST_TEST(process_environment().count("TROUPE_TCP_BACKLOG") == 0u);
}

BOOST_AUTO_TEST_CASE(a_file_may_use_dotted_keys_and_windows_line_ends) {
  BOOST_TEST(load_text("tcp.backlog = 5\r\n", "f").value().values.tcp.backlog == 5u);
  BOOST_TEST(load_text("[tcp]\r\nbacklog = 5\r\n", "f").value().values.tcp.backlog == 5u);
  BOOST_TEST(load_text("\xef\xbb\xbf[tcp]\nbacklog = 5", "f").value().values.tcp.backlog == 5u);
  BOOST_TEST(load_text("", "f").has_value());
}

}  // namespace
}  // namespace troupe::config
