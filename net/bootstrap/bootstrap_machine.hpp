#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "net/bootstrap/address_list_wire.hpp"
#include "net/bootstrap/bootstrap_effects.hpp"
#include "net/bootstrap/bootstrap_state.hpp"
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

/// The owner no longer has the link to `peer` (it was lost). `link_instance` of its lanes keeps a
/// late word about an old link from dropping the one after it; 0: whichever there is.
struct link_dropped {
  rank peer;
  std::uint64_t link_instance = 0;
};

/// Lane `lane` of the link to `peer`, which stands, died: make another. The lower rank of the two
/// (the higher one if that is a newcomer) dials, again and again while the link stands; ends in a
/// `hand_over_lane` on either side.
struct lane_wanted {
  rank peer;
  std::uint8_t lane = 0;
};

/// Where ranks are reached that this rank may not know: what a peer said over a link.
struct addresses_learned {
  std::vector<address_list::entry> entries;
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
                 connection_message, connection_lost, link_wanted, link_dropped, lane_wanted,
                 addresses_learned, death_learned, leave_started, bootstrap_timer_fired>;

/// How one rank finds, checks and reaches the others: one exchange with the rendezvous (rank 0
/// serves it), then the ring, then connections on demand; every connection authenticated.
///
/// Total: every event is defined in every state (table in docs/protocols/bootstrap.md).
void step(bootstrap_state& state, const bootstrap_event& event, instant now,
          bootstrap_effects& out);

}  // namespace troupe::net
