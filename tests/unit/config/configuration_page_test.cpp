#define BOOST_TEST_MODULE configuration_page
#include "config/configuration_page.hpp"

#include "config/launch_environment.hpp"
#include "config/load.hpp"
#include "config/option_text.hpp"

#include <boost/test/unit_test.hpp>

#include <fstream>
#include <iterator>

namespace troupe::config {
namespace {

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

BOOST_AUTO_TEST_CASE(the_committed_page_is_the_generated_one) {
  auto& suite = boost::unit_test::framework::master_test_suite();
  BOOST_REQUIRE_MESSAGE(suite.argc == 2, "the source tree is the argument");
  std::ifstream in(std::string(suite.argv[1]) + "/docs/configuration.md", std::ios::binary);
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  BOOST_TEST((page == configuration_page()),
             "run: troupe_configuration_page page > docs/configuration.md");
}

BOOST_AUTO_TEST_CASE(the_page_has_a_row_for_every_option) {
  const std::string page = configuration_page();
  for (const section_description& section : sections()) {
    BOOST_TEST(has(page, "### [" + std::string(section.name) + "]"));
    for (const option_description& option : section.entries) {
      BOOST_TEST(has(page, "| `" + environment_name(option) + "` |"), option.name);
      BOOST_TEST(has(page, range_text(option)), option.name);
      BOOST_TEST(has(page, option.sentence), option.name);
    }
  }
  BOOST_TEST(has(page, std::to_string(default_rendezvous_port)));
}

BOOST_AUTO_TEST_CASE(the_example_on_the_page_loads) {
  const std::string page = configuration_page();
  const std::size_t begin = page.find("```toml\n") + 8;
  const auto l = load_text(page.substr(begin, page.find("```", begin) - begin), "example");
  BOOST_REQUIRE_MESSAGE(l.has_value(), (l ? "" : l.error().message));
  BOOST_TEST(l->values.transport.data_lane_count == 4u);
}

}  // namespace
}  // namespace troupe::config
