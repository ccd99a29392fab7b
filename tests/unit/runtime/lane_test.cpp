#define BOOST_TEST_MODULE lane
#include "runtime/lane.hpp"

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <initializer_list>
#include <set>
#include <string_view>

using troupe::lane_address;
using troupe::lane_kind;
using troupe::to_string;

namespace {

lane_address ipv6(std::initializer_list<std::uint16_t> groups, std::uint16_t port) {
  lane_address address;
  std::size_t at = 0;
  for (const auto group : groups) {
    address.host[at++] = static_cast<std::byte>(group >> 8);
    address.host[at++] = static_cast<std::byte>(group & 0xff);
  }
  address.port = port;
  return address;
}

lane_address ipv4(std::initializer_list<std::uint8_t> bytes, std::uint16_t port) {
  auto address = ipv6({0, 0, 0, 0, 0, 0xffff, 0, 0}, port);
  std::size_t at = 12;
  for (const auto byte : bytes)
    address.host[at++] = static_cast<std::byte>(byte);
  return address;
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_ipv4_address_reads_as_dotted_numbers_and_port) {
  BOOST_TEST(to_string(ipv4({127, 0, 0, 1}, 4711)) == "127.0.0.1:4711");
  BOOST_TEST(to_string(ipv4({255, 255, 255, 255}, 65535)) == "255.255.255.255:65535");
  BOOST_TEST(to_string(ipv4({0, 0, 0, 0}, 0)) == "0.0.0.0:0");
}

BOOST_AUTO_TEST_CASE(an_ipv6_address_stands_in_brackets_in_lower_case_without_leading_zeros) {
  BOOST_TEST(to_string(ipv6({0x2001, 0xdb8, 1, 2, 3, 4, 5, 0xABCD}, 80)) ==
             "[2001:db8:1:2:3:4:5:abcd]:80");
}

BOOST_AUTO_TEST_CASE(the_longest_run_of_zero_groups_is_left_out) {
  BOOST_TEST(to_string(ipv6({0x2001, 0xdb8, 0, 0, 0, 0, 0, 1}, 1)) == "[2001:db8::1]:1");
  BOOST_TEST(to_string(ipv6({1, 0, 0, 2, 0, 0, 0, 3}, 1)) == "[1:0:0:2::3]:1");
  BOOST_TEST(to_string(ipv6({1, 0, 0, 0, 2, 0, 0, 3}, 1)) == "[1::2:0:0:3]:1");
}

BOOST_AUTO_TEST_CASE(the_first_of_two_equal_runs_is_left_out) {
  BOOST_TEST(to_string(ipv6({1, 0, 0, 2, 3, 0, 0, 4}, 1)) == "[1::2:3:0:0:4]:1");
}

BOOST_AUTO_TEST_CASE(one_zero_group_alone_stays) {
  BOOST_TEST(to_string(ipv6({1, 0, 2, 3, 4, 5, 6, 7}, 1)) == "[1:0:2:3:4:5:6:7]:1");
}

BOOST_AUTO_TEST_CASE(runs_at_either_end_are_left_out) {
  BOOST_TEST(to_string(ipv6({0, 0, 0, 0, 0, 0, 0, 0}, 1)) == "[::]:1");
  BOOST_TEST(to_string(ipv6({0, 0, 0, 0, 0, 0, 0, 1}, 1)) == "[::1]:1");
  BOOST_TEST(to_string(ipv6({0xfe80, 0, 0, 0, 0, 0, 0, 0}, 1)) == "[fe80::]:1");
}

BOOST_AUTO_TEST_CASE(every_lane_kind_has_a_name_of_its_own) {
  std::set<std::string_view> names;
  for (const auto kind : {lane_kind::none, lane_kind::fabric, lane_kind::tcp, lane_kind::shm,
                          lane_kind::verbs, lane_kind::copy_engine})
    BOOST_TEST(names.insert(to_string(kind)).second);
  BOOST_TEST(to_string(static_cast<lane_kind>(200)) == "invalid");
}
