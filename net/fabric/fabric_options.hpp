#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "runtime/instant.hpp"

namespace troupe::net {

/// The simulated world's wires. Every wire is alike; faults make them different.
struct fabric_options {
  std::uint64_t seed = 1;
  duration latency = std::chrono::microseconds(5);     ///< one way, after the last byte left
  duration jitter = duration::zero();                  ///< up to this much more, drawn per frame
  std::uint64_t bytes_per_second = 25'000'000'000ull;  ///< of each endpoint's outgoing port
  std::uint32_t lane_depth = 64;
  /// Bytes of one direction of a lane that the wire takes over at once, as a socket buffer does:
  /// their `write_completed` comes before they arrive. 0: completed when they are in place, as a
  /// NIC with acknowledgements does.
  std::uint64_t wire_buffer_bytes = 256 * 1024;
  duration detection_delay = std::chrono::milliseconds(100);  ///< silence after which a lane dies
  std::uint32_t backlog = 1024;  ///< accepted lanes an endpoint may leave unpolled
};

/// Random faults of the frames from one endpoint to another: each strikes once in so many frames
/// (or dials) on average; 0: never. Drawn from the fabric's seed.
struct fabric_faults {
  std::uint32_t lose_lane_one_in = 0;
  std::uint32_t lose_completion_one_in = 0;  ///< the write lands, its `write_completed` never comes
  std::uint32_t stall_one_in = 0;            ///< this frame and all behind it never arrive
  std::uint32_t duplicate_arrival_one_in = 0;  ///< `write_arrived` comes twice
  std::uint32_t corrupt_one_in = 0;            ///< one bit of payload or message flips
  std::uint32_t delay_one_in = 0;
  duration delay = std::chrono::milliseconds(1);
  std::uint32_t lose_frame_one_in = 0;  ///< sent again: arrives `retransmission` later
  duration retransmission = std::chrono::milliseconds(4);
  duration longer = duration::zero();    ///< every frame takes so much longer
  duration jitter = duration::zero();    ///< every frame takes up to so much longer, each its own
  std::uint32_t lose_dial_one_in = 0;    ///< the dial ends at its deadline
  std::uint32_t refuse_dial_one_in = 0;  ///< the dial ends in `unreachable`
};

/// A fault of one frame: the next one that is posted on the lane.
enum class lane_fault : std::uint8_t {
  lose_lane,          ///< the lane dies where the frame would have arrived
  lose_completion,    ///< a write lands, but its `write_completed` never comes
  stall,              ///< this frame and all behind it never arrive
  duplicate_arrival,  ///< a write's `write_arrived` comes twice
  corrupt,            ///< one bit of payload or message flips
  delay,              ///< arrives `fabric_faults::delay` later, and so does what is behind it
};

/// Most ports of switches on one way.
inline constexpr std::size_t fabric_route_ports_max = 4;

/// The way of one direction of a lane: through these ports, in order. Without a port it is the wire
/// that `fabric_options` describe.
struct fabric_route {
  std::array<std::uint32_t, fabric_route_ports_max> ports{};
  std::uint32_t port_count = 0;
  duration
      latency{};  ///< of the whole way when no port is busy, one way; the links share it evenly
};

/// Queues above this count as long in `fabric_port_report`. Chosen: what a shallow switch buffer
/// has for one of its ports.
inline constexpr std::uint64_t fabric_queue_threshold_bytes = 1 << 20;

/// What passed a port, and its queue: what arrived and has not left.
struct fabric_port_report {
  std::uint64_t bytes = 0;
  std::uint64_t queue_bytes_max = 0;
  std::uint64_t queue_bytes_p99 = 0;  ///< not above this for 99 % of the time, within a quarter
  duration time_above{};              ///< that the queue was above the threshold
  duration watched{};
};

/// Where an endpoint is. Numbers are of the whole world: rack 0 is in one zone only.
struct fabric_place {
  std::uint32_t host = 0;
  std::uint32_t rack = 0;
  std::uint32_t zone = 0;
  std::uint32_t data_center = 0;
};

/// How far two endpoints are from each other; an index of wires.
enum class fabric_distance : std::uint8_t {
  same_host,
  same_rack,
  same_zone,
  cross_zone,
  cross_data_center,
};

inline constexpr std::size_t fabric_distance_count = 5;

/// The wires of one distance.
struct fabric_wire_kind {
  duration latency = duration::zero();  ///< one way
  std::uint64_t bytes_per_second = 1;   ///< of each endpoint's outgoing port
};

/// How an endpoint ends.
enum class crash_kind : std::uint8_t {
  process,  ///< its lanes are closed by its system: what left still arrives, dials are refused
  host,     ///< silence: peers notice after `detection_delay`, dials end at their deadline
};

/// What the fabric moved, in all or from one endpoint.
struct fabric_counters {
  std::uint64_t messages = 0;  ///< posted and accepted
  std::uint64_t writes = 0;    ///< posted and accepted
  std::uint64_t bytes = 0;     ///< of accepted writes
  std::uint64_t dials = 0;
  std::uint32_t connections = 0;      ///< open now, dialled and accepted
  std::uint32_t connections_max = 0;  ///< most that were open at once
};

}  // namespace troupe::net
