#define BOOST_TEST_MODULE host_list
#include "config/host_list.hpp"

#include <boost/test/unit_test.hpp>

namespace troupe::config {
namespace {

bool has(std::string_view list, std::string_view host) {
  const auto found = host_list_contains(list, host);
  BOOST_REQUIRE_MESSAGE(found.has_value(), list << ": " << found.error().message);
  return *found;
}

void refuses(std::string_view list, std::string_view reason) {
  const auto found = host_list_contains(list, "node1");
  BOOST_REQUIRE_MESSAGE(!found, list << " was taken");
  BOOST_TEST(found.error().message.find(reason) != std::string::npos,
             list << ": " << found.error().message);
}

BOOST_AUTO_TEST_CASE(names_and_ranges_are_found) {
  BOOST_TEST(has("login1", "login1"));
  BOOST_TEST(has("login1,node[003-005,9]", "login1"));
  BOOST_TEST(has("login1,node[003-005,9]", "node004"));
  BOOST_TEST(has("login1,node[003-005,9]", "node9"));
  BOOST_TEST(!has("login1,node[003-005,9]", "node006"));
  BOOST_TEST(!has("login1,node[003-005,9]", "node"));
  BOOST_TEST(!has("login1", "login12"));
  BOOST_TEST(has("gpu-7.cluster.example", "gpu-7.cluster.example"));
}

BOOST_AUTO_TEST_CASE(zeros_before_a_number_count) {
  BOOST_TEST(!has("node[003-005]", "node4"));
  BOOST_TEST(!has("node[3-5]", "node004"));
  BOOST_TEST(has("node[8-12]", "node10"));
  BOOST_TEST(has("node[098-102]", "node101"));
  BOOST_TEST(!has("node[98-102]", "node099"));
}

BOOST_AUTO_TEST_CASE(a_name_may_go_on_behind_a_range_and_have_several) {
  BOOST_TEST(has("rack[1-2]-node[01-16].ib", "rack2-node16.ib"));
  BOOST_TEST(!has("rack[1-2]-node[01-16].ib", "rack3-node16.ib"));
  BOOST_TEST(!has("rack[1-2]-node[01-16].ib", "rack2-node16"));
  BOOST_TEST(has("n[1-2]5", "n15"));
}

BOOST_AUTO_TEST_CASE(a_bad_list_says_what_is_wrong_with_it) {
  refuses("", "names no host");
  refuses("node[1-", "[ without ]");
  refuses("node[", "[ without ]");
  refuses("node[]", "range that is none");
  refuses("node[5-3]", "range that is none");
  refuses("node[a]", "range that is none");
  refuses("node[1,]", "comma and no range");
  refuses("node[1-2000000000]", "range that is none");
  refuses("node 1", "is no host name");
  refuses("node1,", "comma");
  refuses("a,,b", "is no host name");
}

}  // namespace
}  // namespace troupe::config
