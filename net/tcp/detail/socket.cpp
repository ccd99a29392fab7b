#include "net/tcp/detail/socket.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>

namespace troupe::net::detail {

namespace {

constexpr std::array<std::byte, 12> mapped_prefix = {
    std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0},    std::byte{0},
    std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0xff}, std::byte{0xff}};

std::string error_text(int code) {
  return std::strerror(code);
}

bool set_option(int socket, int level, int name, int value) {
  return ::setsockopt(socket, level, name, &value, sizeof value) == 0;
}

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string congestion_text(const std::string& name, int code) {
  return "tcp.congestion_control: the system refused \"" + name + "\" (" + error_text(code) +
         "); available: " + first_line("/proc/sys/net/ipv4/tcp_available_congestion_control") +
         "; allowed to everyone: " +
         first_line("/proc/sys/net/ipv4/tcp_allowed_congestion_control");
}

outcome<void> set_buffer(int socket, int name, std::uint64_t bytes, const char* option) {
  if (bytes == 0) return {};
  const auto limit = static_cast<std::uint64_t>(std::numeric_limits<int>::max());
  if (bytes <= limit && set_option(socket, SOL_SOCKET, name, static_cast<int>(bytes))) return {};
  return fail(errc::bad_configuration, std::string(option) + ": the system refused " +
                                           std::to_string(bytes) + " bytes (" +
                                           error_text(bytes <= limit ? errno : EINVAL) + ")");
}

// Options that must stand before listen(2) or connect(2): buffers decide the window scale.
outcome<void> apply(int socket, const config::tcp_options& options) {
  const auto& name = options.congestion_control;
  if (!name.empty() && ::setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name.data(),
                                    static_cast<socklen_t>(name.size())) != 0)
    return fail(errc::bad_configuration, congestion_text(name, errno));
  if (auto done = set_buffer(socket, SO_SNDBUF, options.send_buffer_bytes, "tcp.send_buffer_bytes");
      !done)
    return done;
  return set_buffer(socket, SO_RCVBUF, options.receive_buffer_bytes, "tcp.receive_buffer_bytes");
}

descriptor make_socket(const lane_address& host) {
  return descriptor(
      ::socket(is_ipv4(host) ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

std::string system_text(const char* call, const lane_address& address, int code) {
  return std::string(call) + " " + to_string(address) + ": " + error_text(code);
}

bool listen_on(int socket, const lane_address& address, std::uint32_t backlog) {
  const auto name = to_socket_address(address);
  const auto bound = std::min<std::uint32_t>(backlog, std::numeric_limits<int>::max());
  return ::bind(socket, name.get(), name.length) == 0 &&
         ::listen(socket, static_cast<int>(bound)) == 0;
}

}  // namespace

bool is_ipv4(const lane_address& address) {
  return std::equal(mapped_prefix.begin(), mapped_prefix.end(), address.host.begin());
}

socket_address to_socket_address(const lane_address& address) {
  socket_address out;
  if (is_ipv4(address)) {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(address.port);
    std::memcpy(&name.sin_addr, &address.host[12], 4);
    std::memcpy(&out.storage, &name, sizeof name);
    out.length = sizeof name;
  } else {
    sockaddr_in6 name{};
    name.sin6_family = AF_INET6;
    name.sin6_port = htons(address.port);
    std::memcpy(&name.sin6_addr, address.host.data(), 16);
    std::memcpy(&out.storage, &name, sizeof name);
    out.length = sizeof name;
  }
  return out;
}

lane_address to_lane_address(const sockaddr* address) {
  lane_address out;
  if (address->sa_family == AF_INET) {
    sockaddr_in name{};
    std::memcpy(&name, address, sizeof name);
    std::copy(mapped_prefix.begin(), mapped_prefix.end(), out.host.begin());
    std::memcpy(&out.host[12], &name.sin_addr, 4);
    out.port = ntohs(name.sin_port);
  } else if (address->sa_family == AF_INET6) {
    sockaddr_in6 name{};
    std::memcpy(&name, address, sizeof name);
    std::memcpy(out.host.data(), &name.sin6_addr, 16);
    out.port = ntohs(name.sin6_port);
  }
  return out;
}

lane_address local_address(int socket) {
  socket_address name;
  name.length = sizeof name.storage;
  if (::getsockname(socket, name.get(), &name.length) != 0) return {};
  return to_lane_address(name.get());
}

lane_address peer_address(int socket) {
  socket_address name;
  name.length = sizeof name.storage;
  if (::getpeername(socket, name.get(), &name.length) != 0) return {};
  return to_lane_address(name.get());
}

error lane_error(int code) {
  return {code == ETIMEDOUT ? errc::timed_out : errc::peer_lost, code};
}

error dial_error(int code) {
  switch (code) {
    case ETIMEDOUT: return {errc::timed_out, code};
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM: return {errc::resource_exhausted, code};
    default: return {errc::unreachable, code};
  }
}

outcome<descriptor> make_listener(const listen_request& request,
                                  const config::tcp_options& options) {
  auto address = request.host;
  for (std::uint32_t port = request.port_first; port <= request.port_last; ++port) {
    address.port = static_cast<std::uint16_t>(port);
    auto socket = make_socket(address);
    if (!socket.valid())
      return fail(errc::system_failure, system_text("socket for", address, errno));
    set_option(socket.number(), SOL_SOCKET, SO_REUSEADDR, 1);
    if (!is_ipv4(address)) set_option(socket.number(), IPPROTO_IPV6, IPV6_V6ONLY, 1);
    if (auto applied = apply(socket.number(), options); !applied)
      return fail(std::move(applied.error()));
    if (listen_on(socket.number(), address, options.backlog)) return socket;
    const int code = errno;
    const bool taken = code == EADDRINUSE || code == EACCES;
    if (!taken || port == request.port_last) {
      auto text = system_text("cannot listen on", address, code);
      if (request.port_first != request.port_last)
        text += "; no port from " + std::to_string(request.port_first) + " to " +
                std::to_string(request.port_last) + " is free";
      return fail(failure({errc::system_failure, code}, std::move(text)));
    }
  }
  return fail(errc::bad_configuration, "port range " + std::to_string(request.port_first) + "-" +
                                           std::to_string(request.port_last) + " is empty");
}

result<descriptor> start_connect(const lane_address& host, const lane_address& to,
                                 const config::tcp_options& options) {
  if (is_ipv4(host) != is_ipv4(to)) return fail(errc::unreachable, EAFNOSUPPORT);
  auto socket = make_socket(to);
  if (!socket.valid()) return tl::unexpected<error>(dial_error(errno));
  if (auto applied = apply(socket.number(), options); !applied)
    return tl::unexpected<error>(applied.error().what);
  tune_connection(socket.number(), host.host == to.host, options);
  // The port is chosen by connect, which knows the peer: bind would keep a whole port busy.
  set_option(socket.number(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
  auto source = host;
  source.port = 0;
  const auto from = to_socket_address(source);
  if (::bind(socket.number(), from.get(), from.length) != 0)
    return tl::unexpected<error>(dial_error(errno));
  const auto name = to_socket_address(to);
  if (::connect(socket.number(), name.get(), name.length) != 0 && errno != EINPROGRESS)
    return tl::unexpected<error>(dial_error(errno));
  return socket;
}

void tune_connection(int socket, bool same_host, const config::tcp_options& options) {
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  // Nothing is lost within a host, and one that paces (bbr) only delays: 16 MiB all-reduce of two
  // ranks 9.8 ms with bbr, 7.1 ms without. Where reno is not allowed the system's choice stays.
  constexpr std::string_view unpaced = "reno";
  if (same_host && options.congestion_control.empty())
    ::setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, unpaced.data(), unpaced.size());
}

}  // namespace troupe::net::detail
