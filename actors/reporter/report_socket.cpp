#include "actors/reporter/report_socket.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace troupe::actors {

namespace {

// Endpoints of one rank number in one process: jobs that share a process.
constexpr unsigned names_tried = 16;

// For one connection, its request and its answer: who is slower is cut off.
constexpr std::chrono::seconds patience(2);

constexpr std::size_t request_bytes_max = 64;

constexpr int backlog = 8;

using clock = std::chrono::steady_clock;

bool wait_for(int socket, short events, clock::time_point end) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - clock::now());
  pollfd one{socket, events, 0};
  return left.count() > 0 && ::poll(&one, 1, static_cast<int>(left.count())) == 1;
}

bool is_own_user(int socket) {
  ucred who{};
  socklen_t size = sizeof who;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) return false;
  return who.uid == ::geteuid() || who.uid == 0;
}

std::string read_line(int socket, clock::time_point end) {
  std::string line;
  std::array<char, request_bytes_max> part{};
  while (line.size() < request_bytes_max && wait_for(socket, POLLIN, end)) {
    const auto got = ::recv(socket, part.data(), part.size() - line.size(), MSG_DONTWAIT);
    if (got <= 0) break;
    line.append(part.data(), static_cast<std::size_t>(got));
    if (const auto stop = line.find('\n'); stop != std::string::npos) return line.substr(0, stop);
  }
  return {};
}

void write_all(int socket, std::string_view text, clock::time_point end) {
  while (!text.empty() && wait_for(socket, POLLOUT, end)) {
    const auto sent = ::send(socket, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) return;
    if (sent > 0) text.remove_prefix(static_cast<std::size_t>(sent));
  }
}

}  // namespace

outcome<report_socket> report_socket::open(rank self) {
  const std::string base = "troupe.report." + std::to_string(::geteuid()) + "." +
                           std::to_string(::getpid()) + "." + std::to_string(self.value) + ".";
  descriptor listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener.valid())
    return fail(errc::system_failure, base + ": no socket: " + std::strerror(errno));
  for (unsigned n = 0; n < names_tried; ++n) {
    const auto name = base + std::to_string(n);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    // The first byte stays 0: the abstract namespace.
    std::memcpy(address.sun_path + 1, name.data(), name.size());
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    if (::bind(listener.number(), reinterpret_cast<const sockaddr*>(&address), size) != 0) {
      if (errno == EADDRINUSE) continue;
      break;
    }
    if (::listen(listener.number(), backlog) != 0) break;
    return report_socket(std::move(listener));
  }
  return fail(errc::system_failure, base + "*: cannot listen: " + std::strerror(errno));
}

void report_socket::serve(const std::function<std::string()>& dump) const {
  const descriptor client(
      ::accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!client.valid() || !is_own_user(client.number())) return;
  const auto end = clock::now() + patience;
  if (read_line(client.number(), end) == "dump") write_all(client.number(), dump() + '\n', end);
}

}  // namespace troupe::actors
