#include "tests/conformance/lane_worlds.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include "net/host/host_network.hpp"
#include "net/tcp/tcp_address.hpp"
#include "net/verbs/verbs_network.hpp"
#include "runtime/assert.hpp"

namespace troupe::conformance {

namespace {

constexpr std::uint32_t buffer_count_max = 64;

}  // namespace

// -- fabric
// ----------------------------------------------------------------------------------------

fabric_lane_world::fabric_lane_world(const net::fabric_options& options) : fabric_(options) {
  buffers_.assign(3, buffer_table(buffer_count_max));
  for (std::uint32_t side = 0; side < 3; ++side)
    networks_.push_back(fabric_.make_network(side, buffers_[side]));
  fabric_.crash(2, net::crash_kind::host);
}

void fabric_lane_world::wait(instant until) {
  if (fabric_.next_event() <= until)
    fabric_.run_next();
  else
    fabric_.run_until(until);
  for (std::uint32_t endpoint = 0; fabric_.take_ready(endpoint);) {
  }
}

// -- machine
// ---------------------------------------------------------------------------------------

instant machine_lane_world::now() {
  return instant(
      std::chrono::duration_cast<duration>(std::chrono::steady_clock::now().time_since_epoch()));
}

void machine_lane_world::wait(instant until) {
  for (int side = 0; side < 2; ++side)
    until = std::min(until, network(side).prepare_to_wait());
  const auto left = std::max(duration::zero(), until - now());
  pollfd sockets[2] = {{network(0).wait_descriptor(), POLLIN, 0},
                       {network(1).wait_descriptor(), POLLIN, 0}};
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(left).count() + (left.count() ? 1 : 0);
  ::poll(sockets, 2, static_cast<int>(std::min<std::int64_t>(milliseconds, 60'000)));
}

// -- tcp
// -------------------------------------------------------------------------------------------

namespace {

struct any_address {
  sockaddr_storage storage{};
  socklen_t length = sizeof(sockaddr_storage);
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

any_address parse(const std::string& host) {
  any_address out;
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  if (::inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    std::memcpy(&out.storage, &v4, sizeof v4);
    out.length = sizeof v4;
  } else {
    TROUPE_ASSERT(::inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) == 1);
    v6.sin6_family = AF_INET6;
    std::memcpy(&out.storage, &v6, sizeof v6);
    out.length = sizeof v6;
  }
  return out;
}

// A socket bound to a port of `host`, and that port.
int bind_socket(const std::string& host, std::uint16_t& port) {
  auto address = parse(host);
  const int socket = ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0 || ::bind(socket, address.get(), address.length) != 0) return -1;
  TROUPE_ASSERT(::getsockname(socket, address.get(), &address.length) == 0);
  sockaddr_in v4{};
  std::memcpy(&v4, &address.storage, sizeof v4);  // the port is at the same place in both
  port = ntohs(v4.sin_port);
  return socket;
}

}  // namespace

tcp_lane_world::tcp_lane_world(const std::string& host, duration patience, lane_kind kind,
                               const std::array<std::string, 2>& devices)
    : host_(host), patience_(patience) {
  buffers_.assign(2, buffer_table(buffer_count_max));
  for (auto& buffers : buffers_) {
    net::tcp_network_options options;
    options.interface = host;
    if (kind == lane_kind::shm) {
      auto network = net::host_network::make({.tcp = options, .shm = {}}, buffers);
      TROUPE_ASSERT(network.has_value());
      networks_.push_back(std::move(*network));
    } else if (kind == lane_kind::verbs) {
      config::verbs_options queue_pairs;
      queue_pairs.devices = devices[networks_.size()];
      auto network =
          net::verbs_network::make({.queue_pairs = queue_pairs, .tcp = options}, buffers);
      if (!network) std::fprintf(stderr, "%s\n", to_string(network.error()).c_str());
      TROUPE_ASSERT(network.has_value());
      networks_.push_back(std::move(*network));
    } else {
      auto network = net::tcp_network::make(options, buffers);
      TROUPE_ASSERT(network.has_value());
      networks_.push_back(std::move(*network));
    }
  }
}

tcp_lane_world::~tcp_lane_world() {
  for (const int socket : deaf_sockets_)
    ::close(socket);
}

bool tcp_lane_world::has(const std::string& host) {
  return net::choose_listen_address(host, {}).has_value();
}

// A port that is bound and not listened on: nobody else can take it, every dial is refused.
lane_address tcp_lane_world::nobody() {
  std::uint16_t port = 0;
  deaf_sockets_.push_back(bind_socket(host_, port));
  auto address = networks_[0]->address();
  address.port = port;
  return address;
}

// A listener whose queue is full: the system drops what else comes.
lane_address tcp_lane_world::silence() {
  std::uint16_t port = 0;
  const int listener = bind_socket(host_, port);
  TROUPE_ASSERT(::listen(listener, 0) == 0);
  deaf_sockets_.push_back(listener);
  auto address = networks_[0]->address();
  address.port = port;
  any_address name;
  TROUPE_ASSERT(::getsockname(listener, name.get(), &name.length) == 0);
  for (int i = 0; i < 4; ++i) {
    const int filler =
        ::socket(name.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    ::connect(filler, name.get(), name.length);
    deaf_sockets_.push_back(filler);
  }
  ::usleep(20'000);
  return address;
}

// -- shm
// -------------------------------------------------------------------------------------------

shm_lane_world::shm_lane_world(const std::string& large_writes, duration patience)
    : patience_(patience) {
  buffers_.assign(2, buffer_table(buffer_count_max));
  for (std::uint16_t side = 0; side < 2; ++side) {
    net::shm_network_options options;
    options.address = address_of(side);
    options.memory.large_writes = large_writes;
    auto network = net::shm_network::make(options, buffers_[side]);
    TROUPE_ASSERT(network.has_value());
    networks_.push_back(std::move(*network));
  }
}

shm_lane_world::~shm_lane_world() {
  ::close(deaf_socket_);
}

lane_address shm_lane_world::address_of(std::uint16_t number) {
  lane_address address;
  const auto process = static_cast<std::uint64_t>(::getpid());
  std::memcpy(address.host.data(), &process, sizeof process);
  address.port = static_cast<std::uint16_t>(1 + number);
  return address;
}

// A listener that accepts nobody.
lane_address shm_lane_world::silence() {
  const auto address = address_of(2);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  const auto text = std::string(1, '\0') + "troupe.shm." + to_string(address);
  std::memcpy(name.sun_path, text.data(), text.size());
  deaf_socket_ = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + text.size());
  TROUPE_ASSERT(::bind(deaf_socket_, reinterpret_cast<const sockaddr*>(&name), length) == 0);
  TROUPE_ASSERT(::listen(deaf_socket_, 16) == 0);
  return address;
}

}  // namespace troupe::conformance
