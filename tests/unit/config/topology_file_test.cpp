#define BOOST_TEST_MODULE topology_file
#include "config/topology_file.hpp"

#include <boost/test/unit_test.hpp>

#include <initializer_list>

namespace troupe::config {
namespace {

constexpr std::string_view cluster = R"(# two racks
[r17]
data_center = "east"
zone = "east-3"
hosts = "node[001-032]"

["r18.b"]
data_center = "east"
zone = "east-4"
hosts = "node[033-064],login.example"
)";

found_place found(std::string_view host) {
  const auto at = place_in(cluster, "cluster.toml", host);
  BOOST_REQUIRE_MESSAGE(at.has_value(), at.error().message);
  return *at;
}

void refuses(std::string_view toml, std::initializer_list<std::string_view> parts) {
  const auto at = place_in(toml, "bad.toml", "node1");
  BOOST_REQUIRE_MESSAGE(!at, toml << " was taken");
  BOOST_TEST((at.error().code() == errc::bad_configuration));
  for (const auto part : parts)
    BOOST_TEST(at.error().message.find(part) != std::string::npos, at.error().message);
}

BOOST_AUTO_TEST_CASE(a_host_stands_where_the_file_says) {
  BOOST_TEST((found("node007").where == place{"east", "east-3", "r17", "node007"}));
  BOOST_TEST(found("node007").said_by == "cluster.toml:5");
  BOOST_TEST((found("node064").where == place{"east", "east-4", "r18.b", "node064"}));
}

BOOST_AUTO_TEST_CASE(a_full_name_is_looked_up_before_its_first_label) {
  BOOST_TEST((found("login.example").where.rack == "r18.b"));
  BOOST_TEST((found("node001.cluster.example").where ==
              place{"east", "east-3", "r17", "node001.cluster.example"}));
}

BOOST_AUTO_TEST_CASE(a_host_in_no_rack_is_nowhere_and_keeps_its_name) {
  BOOST_TEST((found("node999").where == place{"", "", "", "node999"}));
  BOOST_TEST(found("node999").said_by == "not in cluster.toml");
}

BOOST_AUTO_TEST_CASE(a_bad_file_is_refused_with_line_and_reason) {
  refuses("[r1]\nzone = \"z\"\nhosts = \"a\"\n", {"bad.toml:1: ", "[r1]", "no data_center"});
  refuses("[r1]\ndata_center = \"d\"\nhosts = \"a\"\n", {"bad.toml:1: ", "no zone"});
  refuses("[r1]\ndata_center = \"d\"\nzone = \"z\"\n", {"bad.toml:1: ", "no hosts"});
  refuses("[r1]\nrow = 3\n", {"bad.toml:2: ", "\"row\"", "data_center, zone and hosts"});
  refuses("[r1]\nzone = 3\n", {"bad.toml:2: ", "zone is not text in quotes"});
  refuses("[r1]\nzone = \"\"\n", {"bad.toml:2: ", "zone is empty"});
  refuses("zone = \"z\"\n", {"bad.toml:1: ", "outside of any [rack]"});
  refuses("[r1\n", {"bad.toml:1: ", "not valid TOML"});
  refuses("[r1]\ndata_center = \"d\"\nzone = \"z\"\nhosts = \"a[1-\"\n",
          {"bad.toml:4: ", "hosts: ", "[ without ]"});
}

BOOST_AUTO_TEST_CASE(a_host_in_two_racks_names_both) {
  refuses(
      "[r1]\ndata_center = \"d\"\nzone = \"z\"\nhosts = \"node[1-4]\"\n"
      "[r2]\ndata_center = \"d\"\nzone = \"z\"\nhosts = \"node1\"\n",
      {"bad.toml:8: ", "node1", "[r2]", "line 4", "[r1]"});
}

BOOST_AUTO_TEST_CASE(named_options_go_before_the_file) {
  topology_options options{.file = "no-such-file.toml", .data_center = "west", .zone = "w1"};
  const auto at = find_place(options, "node1");
  BOOST_REQUIRE(at.has_value());
  BOOST_TEST((at->where == place{"west", "w1", "", "node1"}));
  BOOST_TEST(at->said_by == "options");
  options.host = "other";
  BOOST_TEST((find_place(options, "node1")->where.host == "other"));
}

BOOST_AUTO_TEST_CASE(nobody_names_a_place_that_nobody_knows) {
  const auto at = find_place({}, "node1");
  BOOST_REQUIRE(at.has_value());
  BOOST_TEST((at->where == place{"", "", "", "node1"}));
  BOOST_TEST(at->said_by == "nobody");
}

BOOST_AUTO_TEST_CASE(a_file_that_is_not_there_and_a_level_alone_are_refused) {
  const auto missing = find_place({.file = "no-such-file.toml"}, "node1");
  BOOST_REQUIRE(!missing);
  BOOST_TEST(missing.error().message.find("no-such-file.toml") != std::string::npos);
  BOOST_TEST(missing.error().message.find("topology.file") != std::string::npos);
  const auto alone = find_place({.rack = "r1"}, "node1");
  BOOST_REQUIRE(!alone);
  BOOST_TEST((alone.error().code() == errc::bad_configuration));
}

}  // namespace
}  // namespace troupe::config
