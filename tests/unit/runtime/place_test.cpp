#define BOOST_TEST_MODULE place
#include "runtime/place.hpp"

#include <boost/test/unit_test.hpp>

namespace troupe {
namespace {

tier between(const place& here, const place& there) {
  const auto forth = tier_between(code_of(here), code_of(there));
  const auto back = tier_between(code_of(there), code_of(here));
  BOOST_TEST((forth == back));
  return forth;
}

BOOST_AUTO_TEST_CASE(the_widest_level_that_differs_is_the_tier) {
  const place here{"east", "e1", "r1", "node1"};
  BOOST_TEST((between(here, here) == tier::same_host));
  BOOST_TEST((between(here, {"east", "e1", "r1", "node2"}) == tier::same_rack));
  BOOST_TEST((between(here, {"east", "e1", "r2", "node3"}) == tier::same_zone));
  BOOST_TEST((between(here, {"east", "e2", "r1", "node4"}) == tier::cross_zone));
  BOOST_TEST((between(here, {"west", "e1", "r1", "node5"}) == tier::cross_data_center));
}

BOOST_AUTO_TEST_CASE(an_unknown_place_is_a_class_of_its_own_and_never_near) {
  const place unknown{"", "", "", "node1"};
  BOOST_TEST((between(unknown, {"", "", "", "node2"}) == tier::unknown));
  BOOST_TEST((between(unknown, {"east", "e1", "r1", "node2"}) == tier::unknown));
  BOOST_TEST((between({}, {}) == tier::unknown));
}

BOOST_AUTO_TEST_CASE(a_level_that_one_side_does_not_know_counts_as_different) {
  BOOST_TEST((between({"east", "e1", "", "a"}, {"east", "e1", "", "b"}) == tier::same_zone));
  BOOST_TEST((between({"east", "e1", "r1", "a"}, {"east", "e1", "", "b"}) == tier::same_zone));
  BOOST_TEST((between({"east", "", "", "a"}, {"east", "e1", "r1", "b"}) == tier::cross_zone));
  BOOST_TEST((between({"east", "", "", "a"}, {"east", "", "", "b"}) == tier::cross_zone));
}

BOOST_AUTO_TEST_CASE(ranks_of_one_host_are_near_also_where_nobody_knows_where_it_stands) {
  BOOST_TEST((between({"", "", "", "node1"}, {"", "", "", "node1"}) == tier::same_host));
}

BOOST_AUTO_TEST_CASE(a_host_of_the_same_name_elsewhere_is_another_host) {
  BOOST_TEST((between({"east", "e1", "r1", "localhost"}, {"east", "e1", "r2", "localhost"}) ==
              tier::same_zone));
  BOOST_TEST(
      (between({"east", "e1", "r1", "localhost"}, {"", "", "", "localhost"}) == tier::unknown));
}

BOOST_AUTO_TEST_CASE(names_of_a_level_count_together_with_those_around_it) {
  const auto a = code_of({"east", "zone1", "rack1", ""});
  const auto b = code_of({"west", "zone1", "rack1", ""});
  BOOST_TEST(a.zone != b.zone);
  BOOST_TEST(a.rack != b.rack);
  BOOST_TEST(code_of({"ab", "c", "", ""}).zone != code_of({"a", "bc", "", ""}).zone);
  BOOST_TEST((code_of({}) == place_code{}));
}

// What ranks of different builds tell each other: these numbers are part of the wire.
BOOST_AUTO_TEST_CASE(names_have_their_golden_numbers) {
  const auto code = code_of({"east", "e1", "r1", "node1"});
  BOOST_TEST(code.data_center == 0x1116410au);
  BOOST_TEST(code.zone == 0x024d107eu);
  BOOST_TEST(code.rack == 0xd6764b3cu);
  BOOST_TEST(code.host == 0xc63cd693u);
}

BOOST_AUTO_TEST_CASE(a_level_without_the_one_around_it_is_refused_by_name) {
  BOOST_TEST(check_place({"east", "e1", "r1", "n"}).has_value());
  BOOST_TEST(check_place({"", "", "", "n"}).has_value());
  const auto rack = check_place({"east", "", "r1", ""});
  BOOST_REQUIRE(!rack);
  BOOST_TEST(rack.error().message.find("rack \"r1\"") != std::string::npos, rack.error().message);
  BOOST_TEST(rack.error().message.find("zone") != std::string::npos);
  const auto zone = check_place({"", "e1", "", ""});
  BOOST_REQUIRE(!zone);
  BOOST_TEST(zone.error().message.find("data centre") != std::string::npos);
}

}  // namespace
}  // namespace troupe
