#define BOOST_TEST_MODULE tier_report
#include "runtime/cli/tier_report.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>

namespace troupe::cli {
namespace {

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

BOOST_AUTO_TEST_CASE(a_place_names_its_levels_and_who_said_so) {
  const config::found_place known{{"east", "e1", "r7", "node1"}, "cluster.toml:5"};
  BOOST_TEST(describe_place("this rank", known) ==
             "this rank: data centre east, zone e1, rack r7, host node1 (cluster.toml:5)\n");
  const config::found_place unknown{{"", "", "", "node1"}, "nobody"};
  BOOST_TEST(has(describe_place("peer", unknown), "rack not known"));
}

BOOST_AUTO_TEST_CASE(the_table_has_a_line_for_every_class) {
  const auto text = tier_table({});
  for (std::uint8_t i = 0; i < tier_count; ++i)
    BOOST_TEST(has(text, '\n' + std::string(to_string(tier{i})) + ' '), text);
  BOOST_TEST(std::count(text.begin(), text.end(), '\n') == tier_count + 1);
}

BOOST_AUTO_TEST_CASE(the_table_shows_what_is_in_force_and_not_what_was_asked_for) {
  config::options o;
  o.transport.segment_bytes = 65536;
  o.tier_cross_zone.bytes = 12345 * 1024;
  o.tier_unknown.cap = "off";
  const auto text = tier_table(o);
  BOOST_TEST(has(text, "12345KiB"), text);
  BOOST_TEST(!has(text, " 1MiB  8"), text);
  const auto unknown = text.substr(text.find("\nunknown"));
  BOOST_TEST(has(unknown, "off"), text);
  BOOST_TEST(has(unknown, " -"), text);
  BOOST_TEST(has(unknown, "64KiB"), text);
}

}  // namespace
}  // namespace troupe::cli
