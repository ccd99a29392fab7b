#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "net/link/flight_window.hpp"
#include "net/wire/control_wire.hpp"
#include "net/wire/eager_wire.hpp"
#include "runtime/buffer_view.hpp"
#include "runtime/instant.hpp"
#include "runtime/result.hpp"
#include "runtime/strong_types.hpp"

namespace troupe::net {

/// Everything a link is made with. "Must agree": a peer with another value is refused at the first
/// hello (bad_configuration).
struct link_options {
  rank peer = no_rank;  ///< whom errors name

  std::uint32_t data_lane_count = 1;           ///< 1 to 16; must agree
  std::uint64_t segment_bytes = 256 * 1024;    ///< largest write, 1 to 2^30; must agree
  std::uint64_t cut_bytes = 0;                 ///< where transfers are cut; 0: `segment_bytes`
  std::uint64_t eager_bytes_max = 16 * 1024;   ///< larger transfers take the handshake; must agree
  std::uint32_t eager_slot_count = 64;         ///< 2 to 64, an immediate names them; must agree
  std::uint32_t window_segment_count = 1024;   ///< power of two, 2 to 2^22; must agree
  std::uint32_t transfer_count_max = 4096;     ///< puts and accepts pending here; must agree
  std::uint64_t parked_bytes_max = 4 << 20;    ///< early eager messages kept aside
  bool budget_capped = true;                   ///< false: budget is not asked for, nor held to
  std::uint64_t budget_lease_bytes = 8 << 20;  ///< budget is asked for in pieces of this
  std::uint64_t budget_write_bytes_min = 0;    ///< a shorter write counts as this much
  std::uint64_t lane_bytes_max = 1ull << 40;   ///< of segments in flight on one data lane, and
  std::uint32_t lane_write_count_max = 4096;   ///< so many, if its depth allows that many
  flight_window_options window{};              ///< of segments in flight on all lanes
  std::uint32_t notice_count_max = 32;         ///< notices that wait for room
  /// Least depth of a lane, at least 10. A lane with less is closed at once. Half of it, at most
  /// 32, is the number of control messages in flight.
  std::uint32_t lane_depth = 32;
  /// First number of a write. Must agree. Tests begin near the wrap.
  sequence first_sequence{};

  duration write_timeout = std::chrono::seconds(5);  ///< a lane that completes nothing for so long
  /// A lane that completes nothing for so long while the source of a cancelled put is read: its
  /// owner waits to have it back. At most `write_timeout`.
  duration release_timeout = std::chrono::milliseconds(500);
  duration ack_delay = std::chrono::microseconds(500);  ///< longest wait of an acknowledgement
  /// A put that waits so long for its accept, or for an eager slot, tells the peer.
  duration announce_delay = std::chrono::milliseconds(1);
  duration budget_hold = std::chrono::milliseconds(1);  ///< idle budget is given back after this
  duration heartbeat_interval = std::chrono::milliseconds(500);  ///< 0: no heartbeats
  duration silence_timeout = std::chrono::seconds(10);           ///< 0: silence is no sign

  std::uint64_t eager_key = 0;                ///< exposes our receive ring to the peer
  std::span<const std::byte> receive_ring{};  ///< `eager_ring_bytes`; peers write, the core reads
  buffer_view staging_ring{};                 ///< `eager_ring_bytes`; sources of eager writes
};

/// Longest segment of a transfer.
constexpr std::uint64_t cut_of(const link_options& options) {
  return options.cut_bytes == 0 ? options.segment_bytes : options.cut_bytes;
}

/// What a segment of `bytes` counts against the budget while a lane has it.
constexpr std::uint64_t budget_charge(const link_options& options, std::uint64_t bytes) {
  return bytes == 0 || bytes > options.budget_write_bytes_min ? bytes
                                                              : options.budget_write_bytes_min;
}

/// Bytes of one slot of the receive ring and of the staging ring: header and payload, rounded up
/// to a cache line.
std::uint64_t eager_slot_bytes(const link_options& options);

/// Bytes of the receive ring, and of the staging ring.
std::uint64_t eager_ring_bytes(const link_options& options);

/// Slots at the end of the ring that a put may use only after a `grant`. They keep small transfers
/// going when every other slot holds a message that nobody accepts yet.
std::uint32_t granted_slot_count(const link_options& options);

/// Parking places of `park_eager`, each of `eager_bytes_max` bytes.
std::uint32_t parking_place_count(const link_options& options);

/// Errors: bad_configuration.
result<void> check(const link_options& options);

}  // namespace troupe::net
