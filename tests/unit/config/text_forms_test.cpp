#define BOOST_TEST_MODULE text_forms
#include "config/text_forms.hpp"

#include <boost/test/unit_test.hpp>

namespace troupe::config {
namespace {

BOOST_AUTO_TEST_CASE(host_and_port_are_split_at_the_last_colon) {
  BOOST_TEST((parse_host_port("node1:29500") == host_port{"node1", 29500}));
  BOOST_TEST((parse_host_port("10.0.0.7:0") == host_port{"10.0.0.7", 0}));
}

BOOST_AUTO_TEST_CASE(ipv6_stands_in_brackets_and_only_ipv6_does) {
  BOOST_TEST((parse_host_port("[::1]:29500") == host_port{"::1", 29500}));
  BOOST_TEST((parse_host_port("[fe80::1%eth0]:1") == host_port{"fe80::1%eth0", 1}));
  BOOST_TEST(!parse_host_port("::1:29500").has_value());
  BOOST_TEST(!parse_host_port("[node1]:29500").has_value());
}

BOOST_AUTO_TEST_CASE(an_address_without_a_whole_port_is_none) {
  for (const char* text : {"", ":", "node1", "node1:", ":29500", "node1:65536", "node1:-1",
                           "node1:29500x", "node 1:29500", "[]:1", "[::1:29500", "a/b:1"})
    BOOST_TEST(!parse_host_port(text).has_value(), text);
}

BOOST_AUTO_TEST_CASE(an_address_prints_as_it_is_read) {
  for (const char* text : {"node1:29500", "[::1]:29500"})
    BOOST_TEST(to_string(*parse_host_port(text)) == text);
}

BOOST_AUTO_TEST_CASE(a_peer_needs_a_port_and_a_listener_may_leave_it_open) {
  BOOST_TEST(is_peer_address("node1:1"));
  BOOST_TEST(!is_peer_address("node1:0"));
  BOOST_TEST(is_listen_address("127.0.0.1:0"));
}

BOOST_AUTO_TEST_CASE(a_host_is_bounded_and_has_no_odd_characters) {
  BOOST_TEST(is_host(std::string(253, 'a')));
  BOOST_TEST(!is_host(std::string(254, 'a')));
  BOOST_TEST(!is_host(""));
  BOOST_TEST(!is_host("a b"));
  BOOST_TEST(!is_host("a\nb"));
}

BOOST_AUTO_TEST_CASE(a_cpu_list_has_increasing_ranges) {
  for (const char* text : {"0", "0-3", "0-3,8", "1,2,3", "7-7"})
    BOOST_TEST(is_cpu_list(text), text);
  for (const char* text : {"", ",", "0,", ",0", "3-1", "1,1", "0-3,2", "a", "0-", "-1", "0--1"})
    BOOST_TEST(!is_cpu_list(text), text);
}

BOOST_AUTO_TEST_CASE(a_kernel_name_fits_the_kernel) {
  BOOST_TEST(is_kernel_name("reno"));
  BOOST_TEST(is_kernel_name(std::string(15, 'a')));
  BOOST_TEST(!is_kernel_name(std::string(16, 'a')));
  BOOST_TEST(!is_kernel_name("a/b"));
  BOOST_TEST(is_interface("eth1.7"));
  BOOST_TEST(!is_interface("^eth0"));
}

BOOST_AUTO_TEST_CASE(text_for_a_log_has_no_control_characters) {
  BOOST_TEST(printable("a\n\x1b[31mb\xff") == "a??[31mb?");
  BOOST_TEST(is_printable(printable("a\n\x1b\xff\x7f")));
}

}  // namespace
}  // namespace troupe::config
