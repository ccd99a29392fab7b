#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/descriptor.hpp"
#include "runtime/lane.hpp"
#include "runtime/result.hpp"

namespace troupe::net::detail {

// Sockets of one host that keep packets apart and can carry a descriptor. Their names lie in the
// abstract namespace, which belongs to a network namespace as addresses do, leaves nothing in a
// file system and ends with its socket.

/// A socket that listens under the name of `address`.
/// Errors: system_failure with errno.
result<descriptor> listen_unix(const lane_address& address, int backlog);

/// A connected socket. Errors: unreachable (nobody listens), resource_exhausted; queue_full if the
/// listener's queue is full: try again.
result<descriptor> connect_unix(const lane_address& address);

/// Who holds the other end, as the system tells it.
struct unix_peer {
  ::pid_t process = 0;  ///< 0: it is not visible from here
  bool same_user = false;
};
unix_peer peer_of(const descriptor& socket);

/// Sends one packet, and `file` with it unless it is -1. False: it did not go.
bool send_packet(const descriptor& socket, std::span<const std::byte> bytes, int file);

/// What `receive_packet` found.
struct unix_packet {
  enum class kind : std::uint8_t { none, ended, arrived };
  kind what = kind::none;
  std::size_t bytes = 0;
  descriptor file;
};
unix_packet receive_packet(const descriptor& socket, std::span<std::byte> out);

/// Whether the other end is closed, though packets may still be read. One system call.
bool has_hung_up(const descriptor& socket);

}  // namespace troupe::net::detail
