#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "runtime/result.hpp"

namespace troupe::net::emulation {

/// How far apart two devices are. `unknown`: one of the hosts has no place.
enum class distance : std::uint8_t {
  same_host,
  same_rack,
  same_zone,
  cross_zone,
  cross_data_center,
  unknown,
};
inline constexpr std::size_t distance_count = 6;

std::string_view name_of(distance far);

/// What the wire between devices of one distance does.
struct wire_model {
  std::uint64_t latency_ns = 0;                   ///< one way
  std::uint64_t byte_ps = 0;                      ///< picoseconds a byte takes; 0: none
  std::uint64_t queue_bytes = ~std::uint64_t{0};  ///< may wait in front of a receiver; more is lost

  friend bool operator==(const wire_model&, const wire_model&) = default;
};

/// Where a host stands.
struct host_place {
  std::string data_center;
  std::string zone;
  std::string rack;

  friend bool operator==(const host_place&, const host_place&) = default;
};

/// The network that a job's hosts are imagined in. Without a file every wire is ideal.
struct network_model {
  std::array<wire_model, distance_count> wires;
  std::map<std::uint32_t, host_place> hosts;

  distance between(std::uint32_t host, std::uint32_t other) const;
  const wire_model& wire(distance far) const { return wires[static_cast<std::size_t>(far)]; }
};

/// Reads a network file (docs/emulation.md).
/// Errors: bad_configuration, with `name`, line, what was read and what may stand there.
outcome<network_model> read_network(std::string_view text, std::string_view name);

/// When a message is on its way and there, and until when it occupies the sender and the receiver.
struct passage {
  std::uint64_t departs_at = 0;
  std::uint64_t arrives_at = 0;
  std::uint64_t sender_free_at = 0;
  std::uint64_t receiver_free_at = 0;
  bool is_lost = false;  ///< the receiver's queue had no room
};

/// Sends `bytes` at `now` over a wire: the sender's port passes one byte after the other from
/// `sender_free_at` on, the receiver's takes them from `receiver_free_at` on.
passage pass(const wire_model& wire, std::uint64_t bytes, std::uint64_t now,
             std::uint64_t sender_free_at, std::uint64_t receiver_free_at);

}  // namespace troupe::net::emulation
