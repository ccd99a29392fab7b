#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory_resource>
#include <string>
#include <vector>

#include "net/bootstrap/address_book.hpp"
#include "net/bootstrap/address_list_wire.hpp"
#include "net/bootstrap/bootstrap_effects.hpp"
#include "net/bootstrap/bootstrap_options.hpp"
#include "net/bootstrap/handshake_machine.hpp"
#include "net/bootstrap/rendezvous_plan.hpp"
#include "runtime/instant.hpp"
#include "runtime/lane.hpp"
#include "runtime/random.hpp"
#include "runtime/result.hpp"

namespace troupe::net {

/// Messages that bootstrap has in flight on one connection at most: a lane has at least this depth.
inline constexpr std::uint32_t bootstrap_lane_depth_min = 16;

enum class bootstrap_phase : std::uint8_t {
  idle,         ///< before `join_started`
  registering,  ///< until the rendezvous named the successor
  gathering,    ///< the ring forms and carries the address book
  joined,
  failing,  ///< the job cannot form; telling those who wait for us
  failed,
  departing,  ///< `leave_started`, with pages that the successor still needs
  left,
};

// -- connections ----------------------------------------------------------------------------------

enum class connection_stage : std::uint8_t {
  dialing,
  shaking,
  held,  ///< proved itself; the answer waits until this rank has joined or the link is whole
  open,
};

enum class connection_role : std::uint8_t {
  unknown,     ///< accepted and not proved yet
  registrar,   ///< we registered with its other end
  registrant,  ///< its other end registers with us
  successor,
  predecessor,
  link,
  lane,  ///< in place of one that died
};

struct bootstrap_connection {
  handshake shake;
  connection_stage stage = connection_stage::shaking;
  connection_role role = connection_role::unknown;
  rank peer = no_rank;  ///< a claim until the handshake proved it
  lane_address to{};    ///< of a dialled connection
  instant deadline = never;
  bool proved = false;  ///< the other side knows the secret
};

// -- registration: the one exchange with the rendezvous -----------------------------------------

enum class registration_phase : std::uint8_t {
  idle,
  pausing,          ///< before the next dial
  awaiting_leader,  ///< rank 0 of a tree: its leader has not registered yet
  connecting,
  registered,
  assigned,
};

struct registration_state {
  registration_phase phase = registration_phase::idle;
  std::uint64_t connection = 0;
  rank target{0};
  lane_address address{};
  instant retry_at = never;
  duration pause{};
  error last_cause{};
  const char* last_step = "";
  std::uint32_t dial_count = 0;
  bool told = false;   ///< of a leader: the root heard from us that the job failed
  bool heard = false;  ///< the registrar told us that the job failed, or its connection ended
};

// -- rendezvous: the side that answers ------------------------------------------------------------

/// One rank that registers here, or one group whose leader does.
struct rendezvous_slot {
  bool registered = false;
  bool was_lost = false;        ///< registered before, and its connection broke
  bool told = false;            ///< knows its successor, or why there is none
  bool group_complete = false;  ///< of a leader
  std::uint64_t connection = 0;
  std::uint64_t instance = 0;
  lane_address address{};
  std::string missing;  ///< of a leader: ranks of its group, as text
};

struct rendezvous_state {
  explicit rendezvous_state(std::pmr::memory_resource* memory) : slots(memory) {}

  bool serving = false;
  bool root = false;  ///< slots are groups, not ranks
  rank first{0};      ///< rank of slot 0 where slots are ranks
  std::pmr::vector<rendezvous_slot> slots;
  std::uint32_t registered_count = 0;
  bool complete_sent = false;  ///< a leader told the root that its group is complete
  bool answered = false;
  lane_address beyond{};       ///< of a leader that was answered: the successor of its group's last
  instant give_up_at = never;  ///< shortly before the first registered rank gives up
  bool missing_sent = false;
  std::uint32_t unproved_count = 0;  ///< connections that failed to prove themselves
  rank last_unproved = no_rank;      ///< whom the last of them claimed to be
};

// -- ring -----------------------------------------------------------------------------------------

/// One of the two ring connections of this rank.
struct ring_side {
  std::uint64_t connection = 0;
  rank peer = no_rank;
  bool open = false;
  bool departed = false;  ///< it said good-bye, or is known dead: no death is learned from its end
  bool told = false;      ///< we told it that the job failed
  bool heard = false;     ///< it told us
  std::uint32_t sent_count = 0;  ///< pages and death notices; 32 bits, compared modulo 2^32
  std::uint32_t acked_count = 0;
  std::uint32_t received_count = 0;
  std::uint32_t ack_sent_count = 0;
  std::size_t next_death = 0;  ///< index into `deaths` of the first one not sent here
};

enum class death_source : std::uint8_t { here, successor, predecessor };

struct death_record {
  rank dead;
  death_source source = death_source::here;
};

struct ring_state {
  explicit ring_state(std::pmr::memory_resource* memory) : full_blocks(memory), dead(memory) {}

  ring_side successor;
  ring_side predecessor;
  lane_address successor_address{};
  instant retry_at = never;
  duration pause{};
  std::uint32_t refused_count = 0;  ///< in a row
  error last_cause{};
  const char* last_step = "";
  std::pmr::vector<bool> full_blocks;
  std::uint32_t full_block_count = 0;
  std::deque<std::uint32_t> pages;  ///< blocks to pass on; at most one entry a block and one more
  bool own_page_begun = false;
  std::pmr::vector<bool> dead;       ///< by rank; empty before the first death
  std::vector<death_record> deaths;  ///< in the order in which they were learned
  std::vector<rank> skipped;         ///< repair: ranks between us and the successor that refuse
};

// -- links ----------------------------------------------------------------------------------------

enum class link_phase : std::uint8_t {
  idle,
  pausing,  ///< before the next attempt to dial
  dialing,
  superseded,  ///< the peer's dial goes on instead of ours; its lanes have not come yet
  incoming,    ///< some lanes of the peer's dial are here
  established,
};

/// One lane of a link that stands: what became of it since it died.
struct lane_rebuilding {
  std::uint64_t connection = 0;  ///< being dialled; 0: none
  instant retry_at = never;
  duration pause{};
  instant given_at = never;  ///< when the last rebuilt one was handed over
};

struct link_entry {
  link_phase phase = link_phase::idle;
  bool wanted = false;           ///< the owner waits for lanes or `report_unreachable`
  std::uint32_t generation = 0;  ///< of the latest link that both sides had
  std::uint32_t attempt = 0;     ///< generation of the one being made
  std::uint64_t instance = 0;
  std::vector<std::uint64_t> lanes;         ///< connection of each lane; 0: none, or handed over
  std::uint8_t ready_count = 0;             ///< lanes welcomed (dialling) or proved (incoming)
  std::vector<lane_rebuilding> rebuilding;  ///< by lane, once one died that this rank dials
  instant wanted_until = never;
  instant incoming_until = never;
  instant retry_at = never;
  duration pause{};
  std::uint32_t refused_count = 0;
  error last_cause{};
  const char* last_step = "";
};

// -- everything -----------------------------------------------------------------------------------

/// What this rank did so far, for metrics and for the bounds that simulation checks.
struct bootstrap_counters {
  std::uint64_t messages_sent = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t pages_sent = 0;
  std::uint64_t strangers = 0;
  std::uint32_t connections_peak = 0;  ///< most connections held at once, links excepted
};

/// One rank's part in finding, checking and reaching the others. A plain value: `step` is the only
/// one to change it. `book` is complete once `report_joined` came.
struct bootstrap_state {
  /// What grows with the number of ranks comes from `memory`.
  explicit bootstrap_state(bootstrap_options from,
                           std::pmr::memory_resource* memory = std::pmr::get_default_resource());

  bootstrap_options options;
  rendezvous_plan plan;
  std::uint64_t digest = 0;

  bootstrap_phase phase = bootstrap_phase::idle;
  nonce_source nonces;
  random_stream chance;  ///< for back-off and for whom to drop; nothing secret comes from it
  std::uint64_t instance = 0;
  lane_address own_address{};
  instant started = never;
  instant deadline = never;
  address_book book;

  std::map<std::uint64_t, bootstrap_connection> connections;
  std::uint64_t dialled_count = 0;

  registration_state registration;
  rendezvous_state rendezvous;
  ring_state ring;
  std::map<std::uint32_t, link_entry> links;  ///< by rank; one per peer ever linked

  failure reason{};  ///< why the job cannot form
  instant linger_until = never;

  std::deque<bootstrap_effect> deferred;  ///< effects beyond `bootstrap_effects_max`, in order
  std::uint64_t timer_generation = 0;
  instant timer_deadline = never;
  bootstrap_counters counters;
};

/// Every address that this rank knows, its own included.
address_list known_to(const bootstrap_state& state);

}  // namespace troupe::net
