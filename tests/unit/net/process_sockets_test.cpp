#define BOOST_TEST_MODULE process_sockets
#include "net/tcp/process_sockets.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "runtime/descriptor.hpp"

namespace troupe::net {
namespace {

struct loopback_pair {
  loopback_pair() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    listening = descriptor(::socket(AF_INET, SOCK_STREAM, 0));
    BOOST_REQUIRE(::bind(listening.number(), generic, sizeof address) == 0);
    BOOST_REQUIRE(::listen(listening.number(), 4) == 0);
    BOOST_REQUIRE(::getsockname(listening.number(), generic, &length) == 0);
    port = ntohs(address.sin_port);
    dialled = descriptor(::socket(AF_INET, SOCK_STREAM, 0));
    BOOST_REQUIRE(::connect(dialled.number(), generic, sizeof address) == 0);
    accepted = descriptor(::accept(listening.number(), nullptr, nullptr));
    BOOST_REQUIRE(accepted.valid());
  }

  descriptor listening, dialled, accepted;
  std::uint16_t port = 0;
};

const process_socket* find(const std::vector<process_socket>& all, int number) {
  const auto found = std::find_if(all.begin(), all.end(), [number](const process_socket& each) {
    return each.descriptor == number;
  });
  return found == all.end() ? nullptr : &*found;
}

BOOST_AUTO_TEST_CASE(a_table_is_read_and_lines_that_are_none_are_skipped) {
  const auto entries = read_socket_table(
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"
      "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 "
      "4711 1 0 100\n"
      "   1: 0100007F:A1B2 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 "
      "4712 1 0 100\n"
      "garbage\n   2: x:y z 01 a b c d e f\n");
  BOOST_REQUIRE(entries.size() == 2u);
  BOOST_TEST(entries[0].listens);
  BOOST_TEST(entries[0].local_port == 8080u);
  BOOST_TEST(entries[0].inode == 4711u);
  BOOST_TEST(entries[1].stands);
  BOOST_TEST(entries[1].remote == entries[0].local);
}

BOOST_AUTO_TEST_CASE(sockets_of_a_process_are_found_with_both_ends) {
  const loopback_pair sockets;
  const auto found = sockets_of(::getpid());
  BOOST_REQUIRE(found.has_value());
  const auto* listening = find(*found, sockets.listening.number());
  const auto* dialled = find(*found, sockets.dialled.number());
  const auto* accepted = find(*found, sockets.accepted.number());
  BOOST_REQUIRE((listening && dialled && accepted));
  BOOST_TEST(listening->entry.listens);
  BOOST_TEST(listening->entry.local_port == sockets.port);
  BOOST_TEST(dialled->entry.local == accepted->entry.remote);
  BOOST_TEST(dialled->entry.remote == accepted->entry.local);
}

BOOST_AUTO_TEST_CASE(a_socket_that_is_shut_from_outside_has_ended_for_both) {
  const loopback_pair sockets;
  const auto done = shut_socket(::getpid(), sockets.dialled.number());
  if (!done && done.error().code() == errc::not_available) return;  // the kernel says no
  BOOST_REQUIRE_MESSAGE(done.has_value(), (done ? "" : done.error().message));
  char byte = 0;
  BOOST_TEST(::recv(sockets.accepted.number(), &byte, 1, 0) == 0);
  BOOST_TEST(::recv(sockets.dialled.number(), &byte, 1, 0) == 0);
}

BOOST_AUTO_TEST_CASE(words_reach_the_port) {
  const loopback_pair sockets;
  BOOST_REQUIRE(say_to_port(sockets.port, "hello").has_value());
  const descriptor visitor(::accept(sockets.listening.number(), nullptr, nullptr));
  char bytes[8]{};
  BOOST_TEST(::recv(visitor.number(), bytes, sizeof bytes, MSG_WAITALL) == 5);
  BOOST_TEST(std::string(bytes) == "hello");
}

}  // namespace
}  // namespace troupe::net
