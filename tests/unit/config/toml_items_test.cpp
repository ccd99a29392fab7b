#define BOOST_TEST_MODULE toml_items
#include "config/toml_items.hpp"

#include <boost/test/unit_test.hpp>

namespace troupe::config {
namespace {

std::string problem_of(std::string_view text) {
  const auto items = read_toml(text, "f.toml");
  if (items) return "";
  BOOST_TEST((items.error().code() == errc::bad_configuration));
  return items.error().message;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string repeat(std::string_view piece, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i)
    out += piece;
  return out;
}

BOOST_AUTO_TEST_CASE(items_come_in_the_order_of_their_lines_with_type_and_text) {
  const auto items = read_toml("[b]\nx = 5\ny = \"t\"\n[a]\nz = true\n", "f.toml");
  BOOST_REQUIRE(items.has_value());
  BOOST_REQUIRE(items->size() == 5u);
  BOOST_TEST((*items)[0].name == "b");
  BOOST_TEST((*items)[1].name == "b.x");
  BOOST_TEST((*items)[1].line == 2u);
  BOOST_TEST((*items)[1].value.text == "5");
  BOOST_TEST(((*items)[1].value.written_as == written_value::form::integer));
  BOOST_TEST((*items)[2].value.text == "t");
  BOOST_TEST((*items)[3].name == "a");
  BOOST_TEST((*items)[4].value.text == "a boolean");
}

BOOST_AUTO_TEST_CASE(a_syntax_error_names_file_and_line) {
  BOOST_TEST(problem_of("[a]\nx = 1\ny = \n").starts_with("f.toml:3: is not valid TOML: "));
  BOOST_TEST(problem_of("[a]\nx = 1\nx = 2\n").starts_with("f.toml:3: "));
  BOOST_TEST(problem_of("[a]\n[a]\n").starts_with("f.toml:2: "));
  BOOST_TEST(problem_of("x = \"\xff\"").starts_with("f.toml:1: "));
}

BOOST_AUTO_TEST_CASE(a_syntax_error_in_the_line_of_the_secret_does_not_show_it) {
  const std::string problem = problem_of("[bootstrap]\nsecret = 99999999999999999999\n");
  BOOST_TEST(problem.starts_with("f.toml:2: "), problem);
  BOOST_TEST(!has(problem, "9999"), problem);
}

// Without the check each of these overflows the stack: the parser destroys its tree recursively.
BOOST_AUTO_TEST_CASE(what_nests_too_deep_is_refused_before_it_is_parsed) {
  const std::string name = repeat("a.", 100'000) + "a";
  BOOST_TEST(has(problem_of("\n[" + name + "]\n"), "f.toml:2: nests deeper"));
  BOOST_TEST(has(problem_of(name + " = 1"), "f.toml:1: nests deeper"));
  BOOST_TEST(has(problem_of("x = " + repeat("[", 100'000)), "nests deeper"));
  BOOST_TEST(has(problem_of("x = [\n" + repeat("{a.a=[\n", 10'000)), "nests deeper"));
  BOOST_TEST(has(problem_of("x = '''\n'''\n[" + name + "]"), "f.toml:3: nests deeper"));
  BOOST_TEST(has(problem_of("x = \"\\\"\"\n[" + name + "]"), "f.toml:2: nests deeper"));
  BOOST_TEST(has(problem_of("x = '\\'\n[" + name + "]"), "f.toml:2: nests deeper"));
}

BOOST_AUTO_TEST_CASE(dots_in_comments_and_strings_are_not_levels) {
  const std::string dots = repeat(".", 1000);
  BOOST_TEST(problem_of("# " + dots + "\n[a]\nx = \"" + dots + "\"\ny = '" + dots + "'\n") == "");
  BOOST_TEST(problem_of("x = \"\"\"" + dots + "\n" + dots + "\"\"\"\n") == "");
  BOOST_TEST(problem_of("x = '''" + dots + "\n''" + dots + "'''\n") == "");
}

BOOST_AUTO_TEST_CASE(many_shallow_lines_are_fine) {
  std::string text;
  for (int i = 0; i < 1000; ++i)
    text += "k" + std::to_string(i) + ".x = [1, 2]\n";
  BOOST_TEST(problem_of(text) == "");
}

BOOST_AUTO_TEST_CASE(a_text_longer_than_the_limit_is_refused) {
  BOOST_TEST(has(problem_of(std::string(config_file_bytes_max + 1, '\n')), "longer than 1048576"));
  BOOST_TEST(problem_of(std::string(config_file_bytes_max, '\n')) == "");
}

}  // namespace
}  // namespace troupe::config
