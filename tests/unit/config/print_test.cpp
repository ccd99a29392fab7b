#define BOOST_TEST_MODULE print
#include "config/print.hpp"

#include "config/option_text.hpp"

#include <boost/test/unit_test.hpp>

#include <fstream>
#include <iterator>

namespace troupe::config {
namespace {

std::string committed(const std::string& path) {
  auto& suite = boost::unit_test::framework::master_test_suite();
  BOOST_REQUIRE_MESSAGE(suite.argc == 2, "the source tree is the argument");
  std::ifstream in(std::string(suite.argv[1]) + '/' + path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

void expect_equal(const options& a, const options& b) {
  for (const section_description& section : sections()) {
    for (const option_description& option : section.entries) {
      if (option.shows == visibility::secret) continue;
      BOOST_TEST((value_in(a, option) == value_in(b, option)), option.name);
    }
  }
}

loaded_options changed_options() {
  return load({.settings = {{"transport.segment_bytes", "4097"},
                            {"transport.eager_bytes", "0"},
                            {"bootstrap.secret", "hunter2"},
                            {"worker.cpus", "0-3,8"}},
               .environment = environment_variables{{"TROUPE_WORKER_SPIN", "0s"}}})
      .value();
}

BOOST_AUTO_TEST_CASE(what_is_printed_loads_to_the_same_options) {
  const loaded_options l = changed_options();
  const auto again = load_text(print_effective(l), "printed.toml");
  BOOST_REQUIRE_MESSAGE(again.has_value(), (again ? "" : again.error().message));
  expect_equal(again->values, l.values);
}

BOOST_AUTO_TEST_CASE(every_option_is_printed_with_its_origin) {
  const std::string text = print_effective(changed_options());
  for (const section_description& section : sections())
    for (const option_description& option : section.entries)
      BOOST_TEST(has(text, '\n' + std::string(option.shows == visibility::secret ? "# " : "") +
                               std::string(option.key())),
                 option.name);
  BOOST_TEST(has(text, "# environment TROUPE_WORKER_SPIN\n"));
  BOOST_TEST(has(text, "4097"));
  BOOST_TEST(has(text, "# code\n"));
  BOOST_TEST(has(text, "# default\n"));
}

BOOST_AUTO_TEST_CASE(the_secret_is_printed_as_set_or_not_set) {
  const std::string set = print_effective(changed_options());
  BOOST_TEST(!has(set, "hunter2"));
  BOOST_TEST(has(set, "= (set)"));
  BOOST_TEST(has(print_effective({}), "= (not set)"));
}

BOOST_AUTO_TEST_CASE(columns_of_a_section_are_aligned) {
  const std::string text = print_effective({});
  const std::size_t begin = text.find("[tcp]\n") + 6;
  const std::string section = text.substr(begin, text.find("\n\n", begin) - begin);
  std::size_t equals = 0, comment = 0;
  for (std::size_t at = 0; at < section.size();) {
    const std::string line = section.substr(at, section.find('\n', at) - at);
    at += line.size() + 1;
    if (equals == 0) equals = line.find('=');
    if (comment == 0) comment = line.rfind("  # ");
    BOOST_TEST(line.find('=') == equals, line);
    BOOST_TEST(line.rfind("  # ") == comment, line);
  }
}

BOOST_AUTO_TEST_CASE(a_file_name_with_a_line_end_cannot_smuggle_in_a_line) {
  loaded_options l;
  l.config_file = "x\n[tcp]\nbacklog = 9";
  l.origins["tcp.backlog"] = {source::file, "x\nevil = 1"};
  BOOST_TEST(load_text(print_effective(l), "printed.toml").has_value());
  BOOST_TEST(!has(print_effective(l), "\nevil"));
}

BOOST_AUTO_TEST_CASE(the_example_file_is_the_generated_one) {
  BOOST_TEST(committed("config/troupe.example.toml") == example_file(),
             "run: troupe_configuration_page example > config/troupe.example.toml");
}

BOOST_AUTO_TEST_CASE(the_example_file_sets_every_option_to_its_default) {
  const auto l = load_text(committed("config/troupe.example.toml"), "troupe.example.toml");
  BOOST_REQUIRE_MESSAGE(l.has_value(), (l ? "" : l.error().message));
  expect_equal(l->values, options{});
  BOOST_TEST(l->values.bootstrap.secret == "");
  for (const section_description& section : sections())
    for (const option_description& option : section.entries)
      BOOST_TEST((l->origin_of(option.name).from == source::file), option.name);
}

}  // namespace
}  // namespace troupe::config
