#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>

#include "net/bootstrap/bootstrap_state.hpp"
#include "runtime/inline_list.hpp"
#include "runtime/instant.hpp"
#include "runtime/lane.hpp"

namespace troupe::net {

// A connection is one lane on which so far only bootstrap speaks. Its driver numbers connections:
// ids of accepted ones come from the driver (`connection_accepted`), ids of dialled ones from the
// machine (`dial_connection`); the two ranges do not meet (the machine's have bit 63 set).

// -- events ---------------------------------------------------------------------------------------

/// Begin to join the job of `bootstrap_state`'s options. `entropy`: 32 bytes from the operating
/// system (from the seed in simulation), from which all nonces are derived.
struct join_started {
  std::array<std::byte, 32> entropy{};
  lane_address own_address{};
};

struct connection_accepted {
  std::uint64_t connection = 0;
};

struct connection_opened {
  std::uint64_t connection = 0;
};

struct connection_refused {
  std::uint64_t connection = 0;
  error cause{};
};

struct connection_message {
  std::uint64_t connection = 0;
  std::span<const std::byte> bytes{};
};

struct connection_lost {
  std::uint64_t connection = 0;
  error cause{};
};

/// The owner wants a link to `peer` (a world rank): open its lanes, all `data_lane_count` + 1 of
/// them, or join those that the peer is opening. Ends in that many `hand_over_lane`, or in one
/// `report_unreachable`.
struct link_wanted {
  rank peer;
};

/// The owner no longer has the link to `peer` (it was lost): a later dial of the peer is new.
struct link_dropped {
  rank peer;
};

/// The owner knows that world rank `dead` ended, or heard it from another link.
struct death_learned {
  rank dead;
};

/// Leave: tell the ring neighbours that our end is not a death.
struct leave_started {};

struct bootstrap_timer_fired {
  std::uint64_t generation = 0;
};

using bootstrap_event =
    std::variant<join_started, connection_accepted, connection_opened, connection_refused,
                 connection_message, connection_lost, link_wanted, link_dropped, death_learned,
                 leave_started, bootstrap_timer_fired>;

// -- effects --------------------------------------------------------------------------------------

struct dial_connection {
  std::uint64_t connection = 0;
  lane_address to{};
  instant deadline = never;
};

struct send_on_connection {
  std::uint64_t connection = 0;
  std::uint16_t length = 0;
  std::array<std::byte, lane_message_bytes_max> frame{};

  std::span<const std::byte> bytes() const { return {frame.data(), length}; }
};

/// Close after what was sent on it left.
struct close_connection {
  std::uint64_t connection = 0;
};

/// The connection is authenticated and is now lane `lane` of `lane_count` of the link to `peer`:
/// it belongs to the link, bootstrap forgets it. `link_instance` is equal for all lanes of one
/// link and new for every link.
struct hand_over_lane {
  std::uint64_t connection = 0;
  rank peer;
  std::uint8_t lane = 0;
  std::uint8_t lane_count = 0;
  std::uint64_t link_instance = 0;
};

/// Every rank is known: `bootstrap_state::book` is complete.
struct report_joined {};

/// Joining failed. `text` names peer, address, phase and cause.
struct report_join_failed {
  error cause{};
  std::string text;
};

struct report_unreachable {
  rank peer;
  error cause{};
  std::string text;
};

/// World rank `dead` ended without leaving: its ring neighbour saw it, or somebody told us.
struct report_death {
  rank dead;
};

/// A stranger was refused: count it and log one line. `reason` is a literal.
struct count_stranger {
  std::uint64_t connection = 0;
  const char* reason = "";
};

struct arm_bootstrap_timer {
  instant deadline = never;
  std::uint64_t generation = 0;
};

using bootstrap_effect =
    std::variant<dial_connection, send_on_connection, close_connection, hand_over_lane,
                 report_joined, report_join_failed, report_unreachable, report_death,
                 count_stranger, arm_bootstrap_timer>;

using bootstrap_effects = inline_list<bootstrap_effect, bootstrap_effects_max>;

/// How one rank finds, checks and reaches the others: one exchange with the rendezvous (rank 0
/// serves it), then the ring, then connections on demand; every connection authenticated.
///
/// Total: every event is defined in every state (table in docs/protocols/bootstrap.md).
void step(bootstrap_state& state, const bootstrap_event& event, instant now,
          bootstrap_effects& out);

}  // namespace troupe::net
