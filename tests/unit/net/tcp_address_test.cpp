#define BOOST_TEST_MODULE net_tcp_address
#include <boost/test/unit_test.hpp>

#include <sys/resource.h>

#include <algorithm>

#include "net/tcp/tcp_address.hpp"

namespace {

using namespace troupe;
using namespace troupe::net;

std::string resolved(std::string_view text) {
  const auto address = resolve(text);
  return address ? to_string(*address) : to_string(address.error());
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_CASE(hosts_of_both_families_resolve) {
  BOOST_TEST(resolved("127.0.0.1:4711") == "127.0.0.1:4711");
  BOOST_TEST(resolved("[::1]:65535") == "[::1]:65535");
  BOOST_TEST(resolved("localhost:80") == "127.0.0.1:80");
}

BOOST_AUTO_TEST_CASE(what_does_not_resolve_says_which_part_is_wrong) {
  BOOST_TEST(contains(resolved("127.0.0.1"), "has no port"));
  BOOST_TEST(contains(resolved(":4711"), "has no host"));
  BOOST_TEST(contains(resolved("::1:4711"), "[address]:port"));
  for (const auto* port : {"", "0", "65536", "-1", "8o", "80 "})
    BOOST_TEST(contains(resolved(std::string("localhost:") + port), "number from 1 to 65535"));
  BOOST_TEST(contains(resolved("no.such.host.invalid:1"), "no.such.host.invalid"));
}

BOOST_AUTO_TEST_CASE(an_interface_is_chosen_by_address_by_name_and_by_route) {
  const auto chosen = [](std::string_view interface, const lane_address& route_to) {
    const auto address = choose_listen_address(interface, route_to);
    return address ? to_string(*address) : to_string(address.error());
  };
  const auto v4 = *resolve("127.0.0.1:9");
  BOOST_TEST(chosen("", {}) == "127.0.0.1:0");
  BOOST_TEST(chosen("", v4) == "127.0.0.1:0");
  BOOST_TEST(chosen("127.0.0.1", {}) == "127.0.0.1:0");
  BOOST_TEST(chosen("127.0.0.5", {}) == "127.0.0.5:0");
  BOOST_TEST(chosen("lo", v4) == "127.0.0.1:0");
  const auto all = interfaces();
  const auto v6 = *resolve("[::1]:9");
  const bool has_v6 = std::any_of(all.begin(), all.end(), [](const network_interface& entry) {
    return to_string(entry.address) == "[::1]:0";
  });
  if (has_v6) {
    BOOST_TEST(chosen("lo", v6) == "[::1]:0");
    BOOST_TEST(chosen("::1", v4) == "[::1]:0");
    BOOST_TEST(chosen("", v6) == "[::1]:0");
  }
}

BOOST_AUTO_TEST_CASE(an_interface_that_is_not_there_is_named_beside_those_that_are) {
  for (const auto* name : {"ib7", "192.0.2.1"}) {
    const auto chosen = choose_listen_address(name, {});
    BOOST_REQUIRE(!chosen.has_value());
    BOOST_TEST((chosen.error().code() == errc::bad_configuration));
    BOOST_TEST(contains(chosen.error().message, name));
    BOOST_TEST(contains(chosen.error().message, "lo 127.0.0.1"));
  }
}

BOOST_AUTO_TEST_CASE(too_few_descriptors_are_told_with_needed_and_available) {
  BOOST_TEST(check_descriptor_limit(1).has_value());
  const auto checked = check_descriptor_limit(1'000'000'000'000);
  BOOST_REQUIRE(!checked.has_value());
  BOOST_TEST((checked.error().code() == errc::resource_exhausted));
  BOOST_TEST(contains(checked.error().message, "1000000000000 needed"));
  BOOST_TEST(contains(checked.error().message, "available (limit"));
}
