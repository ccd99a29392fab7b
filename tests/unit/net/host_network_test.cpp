#define BOOST_TEST_MODULE net_host_network
#include <boost/test/unit_test.hpp>

#include <poll.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/host/host_network.hpp"
#include "net/shm/shm_network.hpp"
#include "net/tcp/tcp_address.hpp"

namespace {

using namespace troupe;
using namespace troupe::net;
using namespace std::chrono_literals;

instant clock_now() {
  return instant(
      std::chrono::duration_cast<duration>(std::chrono::steady_clock::now().time_since_epoch()));
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

host_network_options options_of(host_lanes lanes) {
  host_network_options options{.lanes = lanes, .tcp = {}, .shm = {}};
  options.tcp.interface = "127.0.0.1";
  return options;
}

// An endpoint of any kind, and what its network said.
struct node {
  explicit node(std::unique_ptr<lane_network> made) : network(std::move(made)) {}

  void poll() {
    std::array<network_event, 8> events;
    const auto count = network->poll(clock_now(), events);
    for (std::size_t i = 0; i < count; ++i) {
      auto& event = events[i];
      if (event.opened) lanes.push_back(std::move(event.opened));
      if (event.what == network_event::kind::dial_failed) failures.push_back(event.cause);
      if (event.what != network_event::kind::lane_ready) continue;
      std::array<lane_event, 8> seen;
      for (std::size_t n = event.ready->poll(seen); n > 0; n = event.ready->poll(seen))
        messages += seen[n - 1].what == lane_event::kind::message_arrived ? 1 : 0;
    }
  }

  std::unique_ptr<lane_network> network;
  std::vector<std::unique_ptr<lane>> lanes;
  std::vector<error> failures;
  std::size_t messages = 0;
};

node make_node(host_lanes lanes, buffer_table& buffers) {
  auto made = host_network::make(options_of(lanes), buffers);
  BOOST_REQUIRE(made.has_value());
  return node(std::move(*made));
}

bool pump(std::vector<node*> nodes, const std::function<bool()>& done) {
  const auto end = clock_now() + 10s;
  while (!done()) {
    for (auto* each : nodes)
      each->poll();
    if (clock_now() > end) return false;
  }
  return true;
}

lane_address address_of(std::array<int, 4> ip, std::uint16_t port) {
  auto address = *resolve("127.0.0.1:1");
  for (std::size_t i = 0; i < 4; ++i)
    address.host[12 + i] = static_cast<std::byte>(ip[i]);
  address.port = port;
  return address;
}

}  // namespace

BOOST_AUTO_TEST_CASE(two_endpoints_of_one_host_share_memory) {
  buffer_table buffers(4);
  auto one = make_node(host_lanes::preferred, buffers);
  auto two = make_node(host_lanes::preferred, buffers);
  BOOST_TEST((one.network->kind_to(two.network->address()) == lane_kind::shm));
  one.network->dial(two.network->address(), 1, clock_now() + 10s);
  BOOST_REQUIRE(pump({&one, &two}, [&] { return !one.lanes.empty() && !two.lanes.empty(); }));
  BOOST_TEST((one.lanes[0]->kind() == lane_kind::shm));
  BOOST_TEST((two.lanes[0]->kind() == lane_kind::shm));
  BOOST_TEST(one.network->take_notice() == "");
  BOOST_TEST(one.network->kind_changes() == 0u);
}

BOOST_AUTO_TEST_CASE(a_peer_without_shared_memory_is_reached_by_a_socket_and_it_says_why) {
  buffer_table buffers(4);
  auto one = make_node(host_lanes::preferred, buffers);
  node two(std::move(*tcp_network::make(options_of(host_lanes::preferred).tcp, buffers)));
  const auto to = two.network->address();
  one.network->dial(to, 1, clock_now() + 10s);
  BOOST_REQUIRE(pump({&one, &two}, [&] { return !one.lanes.empty() && !two.lanes.empty(); }));
  BOOST_TEST((one.lanes[0]->kind() == lane_kind::tcp));
  const auto notice = one.network->take_notice();
  BOOST_TEST(contains(notice, to_string(to)), notice);
  BOOST_TEST(contains(notice, "transport.lanes is tcp there"), notice);
  BOOST_TEST(one.network->take_notice() == "");
  BOOST_TEST((one.network->kind_to(to) == lane_kind::tcp));
  BOOST_TEST(one.network->kind_changes() == 1u);
  // The second lane to the same peer does not say it again.
  one.network->dial(to, 2, clock_now() + 10s);
  BOOST_REQUIRE(pump({&one, &two}, [&] { return one.lanes.size() == 2; }));
  BOOST_TEST(one.network->take_notice() == "");
}

BOOST_AUTO_TEST_CASE(a_peer_that_comes_to_life_between_the_two_dials_shares_memory) {
  buffer_table buffers(4);
  auto one = make_node(host_lanes::preferred, buffers);
  auto options = options_of(host_lanes::preferred);
  options.tcp.port_first = options.tcp.port_last = [&] {
    const auto made = tcp_network::make(options_of(host_lanes::preferred).tcp, buffers);
    return (*made)->address().port;
  }();
  // Refused in memory here and now; by the time that a socket is tried, the peer has both.
  one.network->dial(address_of({127, 0, 0, 1}, options.tcp.port_first), 1, clock_now() + 10s);
  auto made = host_network::make(options, buffers);
  BOOST_REQUIRE(made.has_value());
  node two(std::move(*made));
  BOOST_REQUIRE(pump({&one, &two}, [&] { return !one.lanes.empty(); }));
  BOOST_TEST((one.lanes[0]->kind() == lane_kind::shm));
  BOOST_TEST(one.network->take_notice() == "");
}

BOOST_AUTO_TEST_CASE(a_plain_lane_is_a_socket_also_where_memory_is_required) {
  buffer_table buffers(4);
  for (const auto lanes : {host_lanes::preferred, host_lanes::required}) {
    auto one = make_node(lanes, buffers);
    auto two = make_node(lanes, buffers);
    one.network->dial_plain(two.network->address(), 1, clock_now() + 10s);
    BOOST_REQUIRE(pump({&one, &two}, [&] { return !one.lanes.empty() && !two.lanes.empty(); }));
    BOOST_TEST((one.lanes[0]->kind() == lane_kind::tcp));
    BOOST_TEST((two.lanes[0]->kind() == lane_kind::tcp));
    BOOST_TEST(one.network->take_notice() == "");
    BOOST_TEST((one.network->kind_to(two.network->address()) == lane_kind::shm));
  }
}

BOOST_AUTO_TEST_CASE(where_it_is_required_a_peer_without_it_is_not_reached) {
  buffer_table buffers(4);
  auto one = make_node(host_lanes::required, buffers);
  node two(std::move(*tcp_network::make(options_of(host_lanes::preferred).tcp, buffers)));
  one.network->dial(two.network->address(), 1, clock_now() + 10s);
  BOOST_REQUIRE(pump({&one, &two}, [&] { return !one.failures.empty(); }));
  BOOST_TEST((one.failures[0].code == errc::unreachable));
  const auto notice = one.network->take_notice();
  BOOST_TEST(contains(notice, "through shared memory"), notice);
  BOOST_TEST(two.lanes.empty());
}

BOOST_AUTO_TEST_CASE(where_it_is_required_another_host_is_refused_naming_both) {
  buffer_table buffers(4);
  auto one = make_node(host_lanes::required, buffers);
  const auto to = address_of({192, 0, 2, 7}, 4711);
  one.network->dial(to, 1, clock_now() + 10s);
  BOOST_TEST((one.network->next_deadline() <= clock_now()));
  BOOST_REQUIRE(pump({&one}, [&] { return !one.failures.empty(); }));
  BOOST_TEST((one.failures[0] == error{errc::unreachable, EXDEV}));
  const auto notice = one.network->take_notice();
  BOOST_TEST(contains(notice, "192.0.2.7:4711"), notice);
  BOOST_TEST(contains(notice, to_string(one.network->address())), notice);
}

BOOST_AUTO_TEST_CASE(another_host_is_a_matter_of_sockets) {
  buffer_table buffers(4);
  auto one = make_node(host_lanes::preferred, buffers);
  BOOST_TEST((one.network->kind_to(address_of({192, 0, 2, 7}, 1)) == lane_kind::tcp));
  BOOST_TEST((one.network->kind_to(address_of({127, 0, 0, 9}, 1)) == lane_kind::shm));
}

BOOST_AUTO_TEST_CASE(a_taken_name_leaves_sockets_and_it_says_why) {
  buffer_table buffers(4);
  const auto port = [&] {
    const auto made = tcp_network::make(options_of(host_lanes::preferred).tcp, buffers);
    return (*made)->address().port;
  }();
  auto address = address_of({127, 0, 0, 1}, port);
  const auto squatter = shm_network::make({{}, address}, buffers);
  BOOST_REQUIRE(squatter.has_value());
  auto options = options_of(host_lanes::preferred);
  options.tcp.port_first = options.tcp.port_last = port;
  {
    const auto made = host_network::make(options, buffers);
    BOOST_REQUIRE(made.has_value());
    BOOST_TEST(contains((*made)->take_notice(), to_string(address)));
    BOOST_TEST(((*made)->kind() == lane_kind::tcp));
  }
  options.lanes = host_lanes::required;
  const auto made = host_network::make(options, buffers);
  BOOST_REQUIRE(!made);
  BOOST_TEST(contains(made.error().message, to_string(address)), made.error().message);
}

BOOST_AUTO_TEST_CASE(a_message_on_either_kind_wakes_who_sleeps) {
  buffer_table buffers(4);
  auto one = make_node(host_lanes::preferred, buffers);
  auto shm = make_node(host_lanes::preferred, buffers);
  node tcp(std::move(*tcp_network::make(options_of(host_lanes::preferred).tcp, buffers)));
  for (auto* peer : {&shm, &tcp}) {
    const auto before = one.lanes.size();
    peer->network->dial(one.network->address(), 1, clock_now() + 10s);
    BOOST_REQUIRE(
        pump({&one, peer}, [&] { return one.lanes.size() > before && !peer->lanes.empty(); }));
    for (std::size_t i = 1; i <= 3; ++i) {
      const auto wanted = one.messages + 1;
      peer->poll();
      for (int n = 0; n < 100; ++n)
        one.poll();
      pollfd entry{one.network->wait_descriptor(), POLLIN, 0};
      BOOST_TEST((one.network->prepare_to_wait() > clock_now()));
      BOOST_TEST(::poll(&entry, 1, 0) == 0);
      peer->lanes[0]->post_message({});
      BOOST_TEST(::poll(&entry, 1, 1000) == 1);
      BOOST_TEST(pump({&one}, [&] { return one.messages == wanted; }));
    }
  }
}
