#pragma once

#include <sys/socket.h>

#include <string>

#include "config/tcp_options.hpp"
#include "runtime/descriptor.hpp"
#include "runtime/lane.hpp"
#include "runtime/result.hpp"

namespace troupe::net::detail {

/// A `lane_address` as the socket calls want it.
struct socket_address {
  sockaddr_storage storage{};
  socklen_t length = 0;

  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

bool is_ipv4(const lane_address& address);
socket_address to_socket_address(const lane_address& address);

/// All zero for families other than IPv4 and IPv6.
lane_address to_lane_address(const sockaddr* address);

/// The two ends of a connected socket; all zero if the system does not know them any more.
lane_address local_address(int socket);
lane_address peer_address(int socket);

/// An `errno` of a socket call as the error of a lane: what the caller reacts to.
error lane_error(int code);

/// An `errno` of connect(2) as the error of a dial.
error dial_error(int code);

/// A listening socket on `host`, on the first free port of [port_first, port_last] (0: any).
/// Errors: bad_configuration (congestion control, buffer), system_failure; the text names them.
struct listen_request {
  lane_address host;
  std::uint16_t port_first = 0;
  std::uint16_t port_last = 0;
};
outcome<descriptor> make_listener(const listen_request& request,
                                  const config::tcp_options& options);

/// A socket on its way to `to`, leaving from `host`.
result<descriptor> start_connect(const lane_address& host, const lane_address& to,
                                 const config::tcp_options& options);

/// What holds for every connection: small frames leave at once instead of waiting to fill a packet;
/// between addresses of one host a congestion control that does not pace, unless one is configured.
void tune_connection(int socket, bool same_host, const config::tcp_options& options);

}  // namespace troupe::net::detail
