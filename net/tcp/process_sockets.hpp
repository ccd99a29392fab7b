#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/result.hpp"

namespace troupe::net {

/// One line of the kernel's table of TCP sockets, as /proc/net/tcp and /proc/net/tcp6 print it.
struct socket_entry {
  std::string local;   ///< address and port, as printed
  std::string remote;  ///< address and port, as printed
  std::uint16_t local_port = 0;
  bool listens = false;
  bool stands = false;  ///< established
  std::uint64_t inode = 0;
};

/// The entries of a table; lines that are none are skipped.
std::vector<socket_entry> read_socket_table(std::string_view text);

/// A socket that a process has open.
struct process_socket {
  int descriptor = -1;  ///< its number there
  socket_entry entry;
};

/// The TCP sockets of a process of this host. Errors: system_failure.
outcome<std::vector<process_socket>> sockets_of(pid_t process);

/// Bytes that went through a socket of another process, both ways.
/// Errors: not_available, system_failure; the text has the cause.
outcome<std::uint64_t> traffic_of(pid_t process, int descriptor);

/// Shuts a socket of another process down, both ways.
/// Errors: not_available, system_failure; the text has the cause.
outcome<void> shut_socket(pid_t process, int descriptor);

/// Connects to 127.0.0.1 or ::1, says these bytes, and hangs up. Errors: system_failure.
outcome<void> say_to_port(std::uint16_t port, std::string_view words);

}  // namespace troupe::net
