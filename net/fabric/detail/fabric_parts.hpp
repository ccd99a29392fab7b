#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "net/fabric/detail/byte_pool.hpp"
#include "net/fabric/fabric_options.hpp"
#include "runtime/buffer_table.hpp"
#include "runtime/lane.hpp"

namespace troupe::net::detail {

class fabric_lane;

inline constexpr std::uint32_t no_index = 0xffff'ffffu;

inline constexpr std::uint32_t plane_count_max = 32;  ///< bits of `planes_lost`

/// Something on a wire, or something that waits in an inbox for a poll.
struct fabric_frame {
  enum class kind : std::uint8_t {
    write,      ///< on the wire
    message,    ///< on the wire, then in the receiver's inbox
    end,        ///< on the wire: the sender ended the lane after what is before it
    arrived,    ///< inbox of the receiver
    refused,    ///< inbox of the receiver
    completed,  ///< inbox of the sender
  };
  kind what = kind::write;
  bool buffered = false;    ///< the wire has the bytes; the source is no longer read
  std::uint8_t faults = 0;  ///< bits of `lane_fault`
  std::uint32_t next = no_index;
  std::uint32_t block = no_block;
  std::uint32_t immediate = 0;
  std::uint64_t bytes = 0;
  std::uint64_t context = 0;
  buffer_view source;
  remote_region target;
  instant arrival;  ///< `never` before it has passed the last port of its way
  error cause;

  // On its way through switches.
  std::uint32_t half = no_index;  ///< the sender's
  std::uint32_t passage = 0;      ///< tells this journey from others of the same entry; 0: none
  std::uint32_t way = 0;          ///< index of its route
  std::uint32_t ports_passed = 0;
  instant head;  ///< when its first byte comes to the next port
  instant tail;
};

struct frame_list {
  std::uint32_t head = no_index;
  std::uint32_t tail = no_index;
};

/// One end of a lane, with what it has sent and what has come.
struct fabric_half {
  std::uint32_t endpoint = no_index;
  fabric_lane* lane = nullptr;  ///< the user's object while it has one

  bool used = false;      ///< this end belongs to somebody
  bool closed = false;    ///< by its owner or by a crash: no event any more
  bool lost = false;      ///< the lane is dead; `cause` is or was polled
  bool reported = false;  ///< `lane_lost` was polled
  bool counted = false;   ///< in its endpoint's `connections`
  error cause{};

  frame_list out;                       ///< on the wire, in order of arrival
  std::uint32_t unbuffered = no_index;  ///< first of `out` that may still read its source
  std::uint32_t writes_open = 0;        ///< taken, completion not polled
  std::uint32_t messages_open = 0;      ///< taken, not arrived
  std::uint32_t buffered_writes = 0;
  std::uint64_t buffered_bytes = 0;
  instant last_arrival{};
  bool arrival_planned = false;
  bool waits_for_inbox = false;  ///< the receiver must poll before more arrives
  bool waits_for_group = false;  ///< sender and receiver do not hear each other
  bool stalled = false;          ///< nothing of `out` ever arrives
  bool wants_room = false;       ///< a post was answered `full`
  bool loss_planned = false;
  std::uint32_t wait_stamp = 0;
  std::uint16_t rule = 0;
  std::uint32_t way = no_index;  ///< index of its route; none: the plain wire
  std::uint8_t next_faults = 0;

  frame_list in;
  std::uint32_t in_arrivals = 0;
  std::uint32_t shown_message = no_index;  ///< its bytes are valid until the next call

  bool ready = false;  ///< in its endpoint's list of ready lanes
  std::uint32_t ready_before = no_index;
  std::uint32_t ready_after = no_index;
};

/// Both ends of a lane; half `2 * wire + side` is `half[side]`. Side 0 dialled.
struct fabric_wire {
  std::uint32_t generation = 0;
  std::uint32_t plane = 0;
  std::uint64_t number = 0;  ///< counts all wires ever opened
  fabric_half half[2];
};

struct fabric_dial {
  std::uint32_t endpoint = no_index;
  std::uint32_t generation = 0;
  std::uint64_t context = 0;
  lane_address to;
  instant deadline;
  bool refused = false;           ///< by a drawn fault
  std::uint32_t wire = no_index;  ///< once the peer accepted
};

/// An event that waits for a poll of the network.
struct fabric_notice {
  network_event::kind what = network_event::kind::accepted;
  std::uint32_t half = no_index;
  std::uint64_t context = 0;
  error cause{};
};

struct fabric_endpoint {
  buffer_table* buffers = nullptr;
  bool present = false;       ///< has a network
  bool host_crashed = false;  ///< silent, until it gets a new network
  bool paused = false;
  bool refuses_dials = false;
  bool ready = false;
  std::uint32_t incarnation = 0;
  std::uint32_t group = 0;
  instant port_free{};
  std::uint32_t ready_first = no_index;
  std::uint32_t ready_last = no_index;
  std::deque<fabric_notice> notices;
  std::uint32_t accepted_waiting = 0;
  std::vector<std::uint32_t> dials;
  std::uint64_t refused_total = 0;
  std::optional<fabric_place> place;
  std::optional<fabric_faults> faults;
  std::uint32_t completions_to_lose = 0;
  std::uint32_t planes_lost = 0;  ///< one bit each
  fabric_counters counters;
};

struct fault_rule {
  std::uint32_t from = no_index;
  std::uint32_t to = no_index;
  fabric_faults faults;
};

}  // namespace troupe::net::detail
