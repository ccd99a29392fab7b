#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/verbs/verbs_greeting_wire.hpp"
#include "runtime/result.hpp"

namespace troupe::net {

/// A port of an RDMA device, as far as the choice depends on it.
struct verbs_port {
  std::string device;       ///< "mlx5_0"
  std::uint8_t number = 1;  ///< ports of a device count from 1
  bool active = false;
  std::string state;  ///< "active", "down", ..., for people
  verbs_link_layer link_layer = verbs_link_layer::ethernet;
};

/// "mlx5_0:1 (active, Ethernet), mlx5_1:1 (down, InfiniBand)"; "none".
std::string describe(std::span<const verbs_port> ports);

/// The ports that `wish` means, in its order: names with commas, each with or without ":port"; with
/// "^" before the first, all active ones but those; empty, all active ones. All of one link layer.
///
/// Errors: bad_configuration (a name that is not there, a port that is down, two link layers),
///         not_available (no port is active); the text lists what there is.
outcome<std::vector<verbs_port>> choose_ports(std::string_view wish,
                                              std::span<const verbs_port> found);

/// What `transport.lanes = auto`, which takes no queue pairs, leaves unused, and how to use it:
/// "the RDMA ports mlx5_0:1 (active, Ethernet) are not used: ...". Empty if there is no port.
std::string describe_unused(std::span<const verbs_port> found);

/// A row of a port's GID table.
struct verbs_gid {
  std::uint32_t index = 0;
  bool is_roce_v2 = false;
  std::array<std::byte, 16> bytes{};
};

inline constexpr std::uint32_t any_gid_index = 255;

/// The row to send from: `wish`, or, if that is `any_gid_index`, on Ethernet the first RoCE v2 row
/// with an IPv4 address, else with a global IPv6 address, else any RoCE v2 row; on InfiniBand row
/// 0.
///
/// Errors: bad_configuration, not_available; the text names the port and lists its rows.
outcome<verbs_gid> choose_gid(const verbs_port& port, std::uint32_t wish,
                              std::span<const verbs_gid> rows);

}  // namespace troupe::net
