#define BOOST_TEST_MODULE nearest_name
#include "config/nearest_name.hpp"

#include <boost/test/unit_test.hpp>

namespace troupe::config {
namespace {

BOOST_AUTO_TEST_CASE(a_distance_counts_single_edits) {
  BOOST_TEST(edit_distance("", "") == 0u);
  BOOST_TEST(edit_distance("", "abc") == 3u);
  BOOST_TEST(edit_distance("abc", "") == 3u);
  BOOST_TEST(edit_distance("segment", "segment") == 0u);
  BOOST_TEST(edit_distance("segment", "segmnt") == 1u);
  BOOST_TEST(edit_distance("segment", "segmetn") == 1u);
  BOOST_TEST(edit_distance("kitten", "sitting") == 3u);
}

BOOST_AUTO_TEST_CASE(a_distance_does_not_depend_on_the_direction) {
  BOOST_TEST(edit_distance("transport", "tarnsprot") == edit_distance("tarnsprot", "transport"));
}

BOOST_AUTO_TEST_CASE(a_slip_in_any_option_finds_the_option_again) {
  for (const section_description& section : sections()) {
    for (const option_description& option : section.entries) {
      std::string dropped(option.name);
      dropped.pop_back();
      const bool is_another = find_option(dropped) != nullptr;
      if (!is_another) BOOST_TEST(nearest_option(dropped).name == option.name);
      BOOST_TEST(nearest_option(std::string(option.name) + 'x').name == option.name);
      BOOST_TEST(nearest_variable(environment_name(option) + 'X').name == option.name);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_right_key_in_a_wrong_or_no_section_finds_its_section) {
  BOOST_TEST(nearest_option("tcp.segment_bytes").name == "transport.segment_bytes");
  BOOST_TEST(nearest_option("segment_bytes").name == "transport.segment_bytes");
  BOOST_TEST(nearest_option("bootstrap.cpus").name == "worker.cpus");
  BOOST_TEST(nearest_option("colective.timeout").name == "collective.timeout");
}

BOOST_AUTO_TEST_CASE(the_nearest_section_is_found) {
  BOOST_TEST(nearest_section("transprot").name == "transport");
  BOOST_TEST(nearest_section("metric").name == "metrics");
}

BOOST_AUTO_TEST_CASE(a_very_long_name_still_has_an_answer) {
  BOOST_TEST(!nearest_option(std::string(1 << 20, 'a')).name.empty());
}

}  // namespace
}  // namespace troupe::config
