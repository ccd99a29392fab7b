#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::config {

/// Where to connect or listen: a name or address, and a port.
struct host_port {
  std::string host;  ///< IPv6 without brackets
  std::uint16_t port = 0;

  friend bool operator==(const host_port&, const host_port&) = default;
};

/// Reads "host:port" or "[IPv6]:port"; nothing if the text is neither.
std::optional<host_port> parse_host_port(std::string_view text);

/// The text that `parse_host_port` reads; IPv6 in brackets.
std::string to_string(const host_port& address);

/// A host name or address: letters, digits and ". - _ : %", at most 253 of them.
bool is_host(std::string_view text);

// Forms of options: true if a non-empty text has the form.

/// "host:port" with a port from 1.
bool is_peer_address(std::string_view text);

/// "host:port"; port 0 lets the system choose.
bool is_listen_address(std::string_view text);

/// A name as the kernel has them (interface, congestion control): letters, digits, ". - _".
bool is_kernel_name(std::string_view text);

/// Interface name or address.
bool is_interface(std::string_view text);

/// "0-3,8": increasing ranges of CPU numbers.
bool is_cpu_list(std::string_view text);

/// Printable ASCII, the only characters options may have: they go into logs, files and headers.
bool is_printable(std::string_view text);

/// The text with every character that is not printable ASCII as "?": safe in a log or a file.
std::string printable(std::string_view text);

}  // namespace troupe::config
