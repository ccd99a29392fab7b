#define BOOST_TEST_MODULE net_tcp_network
#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "net/tcp/tcp_frame_wire.hpp"
#include "net/tcp/tcp_network.hpp"
#include "runtime/random.hpp"

namespace {

using namespace troupe;
using namespace troupe::net;
using namespace std::chrono_literals;

constexpr std::uint64_t memory_bytes = 24ull << 20;

instant clock_now() {
  return instant(
      std::chrono::duration_cast<duration>(std::chrono::steady_clock::now().time_since_epoch()));
}

outcome<std::unique_ptr<tcp_network>> make_network(const tcp_network_options& options) {
  static buffer_table unused(1);
  return tcp_network::make(options, unused);
}

std::string text_of_failure(const tcp_network_options& options) {
  const auto made = make_network(options);
  return made ? "it was made" : made.error().message;
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// An endpoint with exposed memory that remembers what its lanes said.
struct node {
  explicit node(const std::string& interface = "127.0.0.1") : buffers(8), memory(memory_bytes) {
    tcp_network_options options;
    options.interface = interface;
    network = std::move(*tcp_network::make(options, buffers));
    view = *buffers.add(memory.data(), memory.size());
    key = *buffers.expose(view);
  }

  void poll() {
    std::array<network_event, 8> events;
    const auto count = network->poll(clock_now(), events);
    for (std::size_t i = 0; i < count; ++i) {
      auto& event = events[i];
      if (event.opened) {
        event.opened->set_tag(lanes.size());
        lanes.push_back(std::move(event.opened));
      }
      if (event.what == network_event::kind::lane_ready) poll_lane(*event.ready);
    }
  }

  void poll_lane(lane& ready) {
    std::array<lane_event, 8> events;
    const auto count = ready.poll(events);
    for (std::size_t i = 0; i < count; ++i) {
      ++totals[events[i].what];
      last_cause = events[i].cause;
      if (events[i].what == lane_event::kind::message_arrived)
        messages.append(reinterpret_cast<const char*>(events[i].message.data()),
                        events[i].message.size());
    }
  }

  bool poll_until(const std::function<bool()>& done) {
    const auto deadline = clock_now() + 20s;
    while (!done()) {
      poll();
      if (clock_now() > deadline) return false;
      if (network->next_deadline() <= clock_now()) continue;
      pollfd entry{network->wait_descriptor(), POLLIN, 0};
      ::poll(&entry, 1, 5);
    }
    return true;
  }

  bool sees(lane_event::kind what, std::size_t count = 1) {
    return poll_until([&] { return totals[what] >= count; });
  }

  buffer_table buffers;
  std::vector<std::byte> memory;
  buffer_view view;
  std::uint64_t key = 0;
  std::unique_ptr<tcp_network> network;
  std::vector<std::unique_ptr<lane>> lanes;
  std::map<lane_event::kind, std::size_t> totals;
  std::string messages;
  error last_cause{};
};

// A socket of a stranger, connected to `to` from `source` ("": any).
struct stranger {
  explicit stranger(const lane_address& to) : socket(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(to.port);
    std::memcpy(&name.sin_addr, &to.host[12], 4);
    const timeval limit{.tv_sec = 5, .tv_usec = 0};
    ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    connected = ::connect(socket, reinterpret_cast<sockaddr*>(&name), sizeof name) == 0;
  }
  ~stranger() { ::close(socket); }
  stranger(const stranger&) = delete;
  stranger& operator=(const stranger&) = delete;

  void send(const void* bytes, std::size_t count) const {
    BOOST_REQUIRE(::send(socket, bytes, count, MSG_NOSIGNAL) == static_cast<ssize_t>(count));
  }
  void send(const tcp_frame& frame) const {
    std::array<std::byte, tcp_write_header_bytes> header{};
    send(header.data(), encode(frame, header));
  }

  int socket;
  bool connected = false;
};

std::size_t open_descriptors() {
  std::size_t count = 0;
  for (int i = 0; i < 4096; ++i)
    count += ::fcntl(i, F_GETFD) != -1 ? 1 : 0;
  return count;
}

}  // namespace

BOOST_AUTO_TEST_CASE(garbage_loses_the_lane_as_malformed) {
  node here;
  std::size_t expected = 0;
  const auto is_malformed = [&](const void* bytes, std::size_t count) {
    const stranger peer(here.network->address());
    peer.send(bytes, count);
    return here.sees(lane_event::kind::lane_lost, ++expected) &&
           here.last_cause.code == errc::malformed;
  };
  BOOST_TEST(is_malformed("GET / HTTP/1.1\r\n\r\n", 18));
  const std::array<std::uint8_t, 16> too_long{1, 1, 0, 0, 0, 0, 0, 0, 1, 4};
  BOOST_TEST(is_malformed(too_long.data(), too_long.size()));
  std::array<std::uint8_t, 32> impossible{2, 1};
  impossible[15] = 0x40;
  BOOST_TEST(is_malformed(impossible.data(), impossible.size()));
}

BOOST_AUTO_TEST_CASE(random_bytes_and_mutated_frames_never_harm_the_endpoint) {
  node here;
  random_stream draw(11);
  for (std::size_t round = 1; round <= 200; ++round) {
    const stranger peer(here.network->address());
    std::vector<std::uint8_t> bytes(draw.between(1, 300));
    for (auto& byte : bytes)
      byte = static_cast<std::uint8_t>(draw.next());
    if (draw.one_in(2)) {
      std::array<std::byte, tcp_write_header_bytes> header{};
      encode({.what = tcp_frame::kind::write,
              .immediate = 0,
              .bytes = draw.below(400),
              .target = {here.key, draw.below(2 * memory_bytes)}},
             header);
      bytes.resize(std::max<std::size_t>(bytes.size(), header.size()));
      std::memcpy(bytes.data(), header.data(), header.size());
      if (draw.one_in(2)) {
        auto& byte = bytes[draw.below(header.size())];
        byte = static_cast<std::uint8_t>(byte ^ 1u << draw.below(8));
      }
    }
    peer.send(bytes.data(), bytes.size());
    ::shutdown(peer.socket, SHUT_WR);
    BOOST_REQUIRE(here.sees(lane_event::kind::lane_lost, round));
    here.lanes.clear();
  }
}

BOOST_AUTO_TEST_CASE(frames_cut_at_every_byte_arrive) {
  node here;
  const stranger peer(here.network->address());
  std::vector<std::byte> stream;
  const auto add = [&](const tcp_frame& frame, std::string_view payload) {
    std::array<std::byte, tcp_write_header_bytes> header{};
    const auto length = encode(frame, header);
    stream.insert(stream.end(), header.begin(), header.begin() + static_cast<long>(length));
    const auto bytes = std::as_bytes(std::span(payload));
    stream.insert(stream.end(), bytes.begin(), bytes.end());
  };
  add({.what = tcp_frame::kind::message, .immediate = 0, .bytes = 3, .target = {}}, "abc");
  add({.what = tcp_frame::kind::write, .immediate = 1, .bytes = 5, .target = {here.key, 7}},
      "hello");
  add({.what = tcp_frame::kind::write, .immediate = 2, .bytes = 4, .target = {99, 0}}, "dead");
  add({.what = tcp_frame::kind::message, .immediate = 0, .bytes = 2, .target = {}}, "de");
  for (const auto& byte : stream) {
    peer.send(&byte, 1);
    here.poll();
    here.poll();
  }
  BOOST_TEST(here.poll_until([&] { return here.messages == "abcde"; }));
  BOOST_TEST(here.totals[lane_event::kind::write_arrived] == 1u);
  BOOST_TEST(here.totals[lane_event::kind::write_refused] == 1u);
  BOOST_TEST(std::memcmp(&here.memory[7], "hello", 5) == 0);
}

BOOST_AUTO_TEST_CASE(a_frame_that_never_ends_is_an_ordinary_end) {
  node here;
  {
    const stranger peer(here.network->address());
    peer.send(
        {.what = tcp_frame::kind::write, .immediate = 1, .bytes = 100, .target = {here.key, 0}});
    peer.send("half", 4);
  }
  BOOST_TEST(here.sees(lane_event::kind::lane_lost));
  BOOST_TEST((here.last_cause.code == errc::peer_lost));
  BOOST_TEST(here.totals[lane_event::kind::write_arrived] == 0u);
}

BOOST_AUTO_TEST_CASE(a_large_write_does_not_starve_another_lane) {
  node here;
  const stranger bulk(here.network->address());
  const stranger small(here.network->address());
  BOOST_REQUIRE(here.poll_until([&] { return here.lanes.size() == 2; }));
  const auto child = ::fork();
  if (child == 0) {
    const tcp_frame frame{.what = tcp_frame::kind::write,
                          .immediate = 1,
                          .bytes = memory_bytes,
                          .target = {here.key, 0}};
    std::array<std::byte, tcp_write_header_bytes> header{};
    ::send(bulk.socket, header.data(), encode(frame, header), MSG_NOSIGNAL);
    const std::vector<std::byte> bytes(1 << 20, std::byte{1});
    for (std::uint64_t sent = 0; sent < memory_bytes;) {
      const auto done = ::send(bulk.socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (done < 0) break;
      sent += static_cast<std::uint64_t>(done);
    }
    ::_exit(0);
  }
  BOOST_REQUIRE(here.poll_until([&] { return here.memory[0] == std::byte{1}; }));
  small.send({.what = tcp_frame::kind::message, .immediate = 0, .bytes = 2, .target = {}});
  small.send("hi", 2);
  BOOST_TEST(here.poll_until([&] { return here.messages == "hi"; }));
  BOOST_TEST(here.totals[lane_event::kind::write_arrived] == 0u);
  BOOST_TEST(here.sees(lane_event::kind::write_arrived));
  ::waitpid(child, nullptr, 0);
}

BOOST_AUTO_TEST_CASE(one_poll_moves_a_bounded_amount) {
  node here;
  const stranger peer(here.network->address());
  BOOST_REQUIRE(here.poll_until([&] { return here.lanes.size() == 1; }));
  peer.send({.what = tcp_frame::kind::write,
             .immediate = 1,
             .bytes = memory_bytes,
             .target = {here.key, 0}});
  const std::vector<std::byte> bytes(1 << 20, std::byte{1});
  std::uint64_t sent = 0;
  for (ssize_t done = 1; done > 0; sent += static_cast<std::uint64_t>(std::max<ssize_t>(done, 0)))
    done = ::send(peer.socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  const auto landed = [&] {
    return static_cast<std::uint64_t>(
        std::count(here.memory.begin(), here.memory.end(), std::byte{1}));
  };
  std::uint64_t before = 0;
  BOOST_REQUIRE(here.poll_until([&] {
    const auto now = landed();
    BOOST_TEST(now - before <= 600u * 1024);
    before = now;
    return now > 0 && now + (1 << 20) >= sent;
  }));
}

BOOST_AUTO_TEST_CASE(a_frame_that_waits_for_company_keeps_its_worker_awake) {
  node here;
  node there;
  there.network->dial(here.network->address(), 1, clock_now() + 5s);
  BOOST_REQUIRE(there.poll_until([&] { return !there.lanes.empty(); }));
  const auto post = [&](std::string_view text) {
    BOOST_REQUIRE(there.lanes[0]->post_message(std::as_bytes(std::span(text))) ==
                  post_status::accepted);
  };
  for (int i = 0; i < 3; ++i)
    there.poll();
  post("one ");
  BOOST_TEST((there.network->next_deadline() == never));
  post("two ");
  post("three");
  BOOST_TEST((there.network->next_deadline() <= clock_now()));
  there.poll();
  BOOST_TEST((there.network->next_deadline() == never));
  BOOST_TEST(here.poll_until([&] { return here.messages == "one two three"; }));
}

BOOST_AUTO_TEST_CASE(only_the_chosen_address_is_listened_on_and_dialled_from) {
  node here("127.0.0.2");
  node there("127.0.0.3");
  auto elsewhere = here.network->address();
  elsewhere.host[15] = std::byte{1};
  BOOST_TEST(!stranger(elsewhere).connected);
  there.network->dial(here.network->address(), 1, clock_now() + 5s);
  BOOST_REQUIRE(there.poll_until([&] { return !there.lanes.empty(); }));
  BOOST_REQUIRE(here.poll_until([&] { return !here.lanes.empty(); }));
  BOOST_TEST(contains(here.lanes[0]->describe(), "tcp 127.0.0.2:"));
  BOOST_TEST(contains(here.lanes[0]->describe(), "-> 127.0.0.3:"));
}

BOOST_AUTO_TEST_CASE(a_port_range_is_used_up_and_then_named) {
  tcp_network_options options;
  const auto probe = make_network(options);
  const auto first = (*probe)->address().port;
  options.port_first = first;
  options.port_last = static_cast<std::uint16_t>(std::min(65535, first + 2));
  std::vector<std::unique_ptr<tcp_network>> made;
  for (auto next = make_network(options); next; next = make_network(options)) {
    BOOST_TEST((*next)->address().port > first);
    BOOST_TEST((*next)->address().port <= options.port_last);
    made.push_back(std::move(*next));
    BOOST_REQUIRE(made.size() < 4);
  }
  const auto text = text_of_failure(options);
  BOOST_TEST(contains(text, "no port from " + std::to_string(first)));
  options.port_last = options.port_first;
  BOOST_TEST(contains(text_of_failure(options), "127.0.0.1:" + std::to_string(first)));
}

/// Congestion controls of this process's sockets that are connected to `port`.
std::vector<std::string> congestion_controls_towards(std::uint16_t port) {
  std::vector<std::string> out;
  for (int socket = 3; socket < 256; ++socket) {
    sockaddr_in peer{};
    socklen_t length = sizeof peer;
    if (::getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &length) != 0) continue;
    if (peer.sin_family != AF_INET || ntohs(peer.sin_port) != port) continue;
    std::array<char, 16> name{};
    length = name.size();
    if (::getsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name.data(), &length) == 0)
      out.emplace_back(name.data());
  }
  return out;
}

BOOST_AUTO_TEST_CASE(connections_within_a_host_are_not_paced) {
  node here;
  node there;
  there.network->dial(here.network->address(), 1, clock_now() + 5s);
  BOOST_REQUIRE(there.poll_until([&] { return !there.lanes.empty(); }));
  BOOST_TEST(
      congestion_controls_towards(here.network->address().port) == std::vector<std::string>{"reno"},
      boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(options_the_system_refuses_are_named) {
  tcp_network_options options;
  options.sockets.congestion_control = "no_such_control";
  const auto text = text_of_failure(options);
  BOOST_TEST(contains(text, "tcp.congestion_control"));
  BOOST_TEST(contains(text, "no_such_control"));
  BOOST_TEST(contains(text, "reno"));
  options.sockets.congestion_control = "reno";
  BOOST_TEST(make_network(options).has_value());
  options.sockets.send_buffer_bytes = 1ull << 40;
  BOOST_TEST(contains(text_of_failure(options), "tcp.send_buffer_bytes"));
  options.sockets = {};
  options.sockets.lane_depth = 0;
  BOOST_TEST(contains(text_of_failure(options), "tcp.lane_depth"));
  options.sockets = {};
  options.port_first = 10;
  options.port_last = 9;
  BOOST_TEST(contains(text_of_failure(options), "port_last"));
}

BOOST_AUTO_TEST_CASE(at_the_descriptor_limit_peers_are_refused_and_counted) {
  node here;
  here.poll();
  rlimit before{};
  BOOST_REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const stranger first(here.network->address());
  const stranger second(here.network->address());
  rlimit low = before;
  low.rlim_cur = 512;
  BOOST_REQUIRE(::setrlimit(RLIMIT_NOFILE, &low) == 0);
  std::vector<int> fillers;
  for (int file = ::dup(0); file >= 0; file = ::dup(0))
    fillers.push_back(file);
  const bool refused = here.poll_until([&] { return here.network->refused_total() == 2; });
  pollfd entry{here.network->wait_descriptor(), POLLIN, 0};
  const int readable = ::poll(&entry, 1, 0);
  for (const int file : fillers)
    ::close(file);
  BOOST_REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  BOOST_TEST(refused);
  BOOST_TEST(readable == 0, "the listener stays readable: its worker would spin");
  BOOST_TEST(here.lanes.empty());
  char byte = 0;
  BOOST_TEST(::recv(first.socket, &byte, 1, 0) <= 0);
  const stranger third(here.network->address());
  BOOST_TEST(here.poll_until([&] { return here.lanes.size() == 1; }));
}

BOOST_AUTO_TEST_CASE(a_forked_child_keeps_no_connection_alive_and_confuses_nobody) {
  node here;
  node there;
  there.network->dial(here.network->address(), 1, clock_now() + 5s);
  BOOST_REQUIRE(there.poll_until([&] { return !there.lanes.empty(); }));
  BOOST_REQUIRE(here.poll_until([&] { return !here.lanes.empty(); }));
  const auto child = ::fork();
  if (child == 0) {
    ::sleep(60);
    ::_exit(0);
  }
  there.lanes.clear();
  BOOST_TEST(here.sees(lane_event::kind::lane_lost));
  here.lanes.clear();
  for (int i = 0; i < 20; ++i) {
    here.poll();
    there.poll();
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

BOOST_AUTO_TEST_CASE(lanes_that_ended_leave_no_descriptor_behind) {
  node here;
  node there;
  const auto before = open_descriptors();
  for (int round = 0; round < 100; ++round) {
    there.network->dial(here.network->address(), 1, clock_now() + 5s);
    BOOST_REQUIRE(there.poll_until([&] { return !there.lanes.empty(); }));
    BOOST_REQUIRE(here.poll_until([&] { return !here.lanes.empty(); }));
    there.lanes.clear();
    BOOST_REQUIRE(here.sees(lane_event::kind::lane_lost, static_cast<std::size_t>(round) + 1));
    here.lanes.clear();
    BOOST_REQUIRE(there.poll_until([&] {
      here.poll();
      return open_descriptors() == before;
    }));
  }
}

BOOST_AUTO_TEST_CASE(a_peer_that_never_closes_costs_a_descriptor_for_a_bounded_time) {
  node here;
  const auto before = open_descriptors();
  const stranger peer(here.network->address());
  BOOST_REQUIRE(here.poll_until([&] { return here.lanes.size() == 1; }));
  here.lanes.clear();
  const auto start = clock_now();
  BOOST_TEST((here.network->next_deadline() < start + 3s));
  BOOST_TEST(here.poll_until([&] { return open_descriptors() == before + 1; }));
  BOOST_TEST((clock_now() - start < 4s));
}
