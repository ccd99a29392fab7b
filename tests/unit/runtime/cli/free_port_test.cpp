#define BOOST_TEST_MODULE free_port
#include "runtime/cli/free_port.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <boost/test/unit_test.hpp>

#include "runtime/cli/descriptor.hpp"

using namespace troupe::cli;

namespace {

/// A socket that listens on a port of loopback; port 0: any.
descriptor listen_on(std::uint16_t port, std::uint16_t& bound) {
  descriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  socklen_t length = sizeof address;
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  BOOST_REQUIRE(::bind(listener.number(), plain, length) == 0);
  BOOST_REQUIRE(::listen(listener.number(), 1) == 0);
  BOOST_REQUIRE(::getsockname(listener.number(), plain, &length) == 0);
  bound = ntohs(address.sin_port);
  return listener;
}

}  // namespace

BOOST_AUTO_TEST_CASE(ports_are_read_from_the_kernels_table_and_garbage_is_skipped) {
  const auto ports = ports_in_table(
      "  sl  local_address rem_address   st\n"
      "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000\n"
      "   1: 00000000000000000000000001000000:0016 0:0 0A\n"
      "nonsense\n   2: \n   3: 0100007F:XYZ 0\n   4: 0100007F");
  BOOST_CHECK((ports == std::set<std::uint16_t>{0x1f90, 0x16}));
}

BOOST_AUTO_TEST_CASE(a_port_that_was_found_can_be_listened_on_and_is_then_refused) {
  const std::uint16_t port = find_free_port(0).value();
  BOOST_CHECK_GE(port, 20'000);
  std::uint16_t bound = 0;
  const descriptor listener = listen_on(port, bound);
  BOOST_CHECK_EQUAL(bound, port);
  const auto again = find_free_port(port);
  BOOST_REQUIRE(!again);
  BOOST_CHECK_EQUAL(again.error().message, "port " + std::to_string(port) +
                                               " is in use; leave --port out to get a free one");
}

BOOST_AUTO_TEST_CASE(two_searches_rarely_meet) {
  std::set<std::uint16_t> found;
  for (int i = 0; i < 50; ++i)
    found.insert(find_free_port(0).value());
  BOOST_CHECK_GT(found.size(), 40u);
}
