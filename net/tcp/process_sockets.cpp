#include "net/tcp/process_sockets.hpp"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <system_error>

#include "runtime/descriptor.hpp"

namespace troupe::net {

namespace {

/// Words of a line, parted by spaces.
std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> out;
  while (!line.empty()) {
    const auto begin = line.find_first_not_of(' ');
    if (begin == std::string_view::npos) break;
    line.remove_prefix(begin);
    const auto end = std::min(line.find(' '), line.size());
    out.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return out;
}

template <class Number>
bool read_number(std::string_view text, int base, Number& out) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), out, base);
  return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

bool read_line(std::string_view line, socket_entry& out) {
  // sl local remote st tx:rx tr:when retrnsmt uid timeout inode ...
  const auto words = words_of(line);
  if (words.size() < 10) return false;
  const auto colon = words[1].rfind(':');
  if (colon == std::string_view::npos) return false;
  if (!read_number(words[1].substr(colon + 1), 16, out.local_port)) return false;
  if (!read_number(words[9], 10, out.inode)) return false;
  out.local = words[1];
  out.remote = words[2];
  out.stands = words[3] == "01";
  out.listens = words[3] == "0A";
  return true;
}

failure system_problem(const std::string& what) {
  return {error{errc::system_failure, errno}, what + ": " + std::strerror(errno)};
}

/// Inodes of the sockets that a process has open, by number of their descriptor.
std::map<int, std::uint64_t> open_sockets(pid_t process) {
  std::map<int, std::uint64_t> out;
  std::error_code problem;
  const auto directory = "/proc/" + std::to_string(process) + "/fd";
  for (auto at = std::filesystem::directory_iterator(directory, problem);
       !problem && at != std::filesystem::directory_iterator(); at.increment(problem)) {
    std::error_code gone;  // descriptors close while we look
    const std::string target = std::filesystem::read_symlink(at->path(), gone).string();
    constexpr std::string_view prefix = "socket:[";
    int number = 0;
    std::uint64_t inode = 0;
    if (gone || !target.starts_with(prefix) || !target.ends_with("]")) continue;
    const auto digits =
        std::string_view(target).substr(prefix.size(), target.size() - prefix.size() - 1);
    if (read_number(digits, 10, inode) &&
        read_number(std::string_view(at->path().filename().native()), 10, number))
      out.emplace(number, inode);
  }
  return out;
}

}  // namespace

std::vector<socket_entry> read_socket_table(std::string_view text) {
  std::vector<socket_entry> out;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    socket_entry entry;
    if (read_line(text.substr(0, end), entry)) out.push_back(std::move(entry));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

outcome<std::vector<process_socket>> sockets_of(pid_t process) {
  std::vector<process_socket> out;
  const auto open = open_sockets(process);
  for (const char* name : {"tcp", "tcp6"}) {
    std::ifstream file("/proc/" + std::to_string(process) + "/net/" + name);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    for (const socket_entry& entry : read_socket_table(text))
      for (const auto& [number, inode] : open)
        if (inode == entry.inode && inode != 0) out.push_back({number, entry});
  }
  return out;
}

namespace {

/// A descriptor of our own for a socket of another process.
outcome<descriptor> borrow_socket(pid_t process, int descriptor_number) {
  // glibc 2.36 declares pidfd_open without C linkage.
  const descriptor whose(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
  if (!whose.valid()) return fail(system_problem("pidfd_open"));
  descriptor ours(
      static_cast<int>(::syscall(SYS_pidfd_getfd, whose.number(), descriptor_number, 0)));
  if (!ours.valid()) {
    const bool refused = errno == EPERM || errno == ENOSYS;
    auto problem = system_problem("cannot reach into process " + std::to_string(process) +
                                  " (pidfd_getfd; see kernel.yama.ptrace_scope)");
    if (refused) problem.what.code = errc::not_available;
    return fail(std::move(problem));
  }
  return ours;
}

}  // namespace

outcome<std::uint64_t> traffic_of(pid_t process, int descriptor_number) {
  const auto ours = borrow_socket(process, descriptor_number);
  if (!ours) return fail(ours.error());
  tcp_info about{};
  socklen_t length = sizeof about;
  if (::getsockopt(ours->number(), IPPROTO_TCP, TCP_INFO, &about, &length) != 0)
    return fail(system_problem("getsockopt(TCP_INFO)"));
  return about.tcpi_bytes_acked + about.tcpi_bytes_received;
}

outcome<void> shut_socket(pid_t process, int descriptor_number) {
  const auto ours = borrow_socket(process, descriptor_number);
  if (!ours) return fail(ours.error());
  if (::shutdown(ours->number(), SHUT_RDWR) != 0 && errno != ENOTCONN)
    return fail(system_problem("shutdown"));
  return {};
}

outcome<void> say_to_port(std::uint16_t port, std::string_view words) {
  sockaddr_in four{};
  four.sin_family = AF_INET;
  four.sin_port = htons(port);
  four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(port);
  six.sin6_addr = in6addr_loopback;
  descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(socket.number(), reinterpret_cast<const sockaddr*>(&four), sizeof four) != 0) {
    socket = descriptor(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(socket.number(), reinterpret_cast<const sockaddr*>(&six), sizeof six) != 0)
      return fail(system_problem("cannot connect to port " + std::to_string(port)));
  }
  if (::send(socket.number(), words.data(), words.size(), MSG_NOSIGNAL) < 0)
    return fail(system_problem("send"));
  return {};
}

}  // namespace troupe::net
