#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>

#include "net/bootstrap/bootstrap_machine.hpp"
#include "net/bootstrap/bootstrap_wire.hpp"
#include "runtime/mark.hpp"

/// How the parts of the bootstrap machine work together. One part, one file; all of them change
/// the one `bootstrap_state`, inside one `step`.
namespace troupe::net::detail {

/// One step that is being taken.
struct turn {
  bootstrap_state& state;
  instant now;
  bootstrap_effects& out;
};

/// Why a connection ended, for whoever used it.
struct connection_end {
  std::uint64_t connection = 0;
  rank peer = no_rank;
  bool was_open = false;
  error cause{};
  const char* step = "";  ///< a literal: "the connection was refused", ...
  handshake_status status = handshake_status::welcome;  ///< other: the acceptor refused us
  std::uint64_t detail = 0;
  bool believed = true;  ///< false: whoever answered did not prove the secret
  bool never_opened = false;
};

/// The cause lies in this process or machine: asking again, or elsewhere, would not change it.
inline bool is_own_failure(const error& cause) {
  return cause.code == errc::resource_exhausted || cause.code == errc::system_failure;
}

inline constexpr std::uint64_t dialled_bit = std::uint64_t{1} << 63;
inline constexpr bool is_dialled(std::uint64_t connection) {
  return (connection & dialled_bit) != 0;
}

// Chosen: a process that is about to listen is caught within a blink, and 1,000 ranks that wait
// for rank 0 ask it twice a second each.
inline constexpr duration first_pause = std::chrono::milliseconds(10);
inline constexpr duration longest_pause = std::chrono::milliseconds(500);
// Refusals in a row after which a process that listened before counts as gone: after 10 + 20 + 40 +
// 80 + 160 ms, a third of a second.
inline constexpr std::uint32_t refusals_max = 6;
// Messages that wait for an acknowledgement on a ring connection. With them, two acknowledgements,
// `failed` and `leaving` may be under way: within `bootstrap_lane_depth_min`.
inline constexpr std::uint32_t ring_window = 8;

// -- bootstrap_connections.cpp --------------------------------------------------------------------

void emit(turn& t, bootstrap_effect effect);
void flush_deferred(turn& t);

bootstrap_connection* find_connection(turn& t, std::uint64_t connection);
handshake_identity identity_of(const bootstrap_state& state);

struct dial_request {
  connection_role role = connection_role::link;
  rank peer{};
  lane_address to{};
  instant deadline = never;
  hello_frame hello{};
};
std::uint64_t dial_peer(turn& t, const dial_request& request);
void send_frame(turn& t, std::uint64_t connection, const bootstrap_frame& frame);
/// Closes and forgets the connection. Zero and forgotten ones are fine.
void drop_connection(turn& t, std::uint64_t connection);
void drop_all_connections(turn& t);

/// Answers a proved dialer.
void welcome(turn& t, std::uint64_t connection, connection_role role);
void turn_away(turn& t, std::uint64_t connection, handshake_status status, std::uint64_t detail);

void on_connection_accepted(turn& t, std::uint64_t connection);
void on_connection_opened(turn& t, std::uint64_t connection);
void on_connection_message(turn& t, std::uint64_t connection, std::span<const std::byte> bytes);
/// The driver lost it, or never got it.
void on_connection_ended(turn& t, std::uint64_t connection, error cause);
void run_connection_deadlines(turn& t);

// -- registration_machine.cpp ---------------------------------------------------------------------

void begin_registration(turn& t);
void on_registrar_welcomed(turn& t);
void on_registrar_frame(turn& t, const bootstrap_frame& frame);
void on_registrar_ended(turn& t, const connection_end& end);
void run_registration_deadlines(turn& t);
/// This rank's leader (rank 0 of a tree) or successor is known without a message.
void learn_leader(turn& t, const lane_address& address);
void learn_successor(turn& t, const lane_address& address);
std::string describe_registration(const bootstrap_state& state);

// -- rendezvous_machine.cpp -----------------------------------------------------------------------

void begin_serving(turn& t);
void admit_registrant(turn& t, std::uint64_t connection);
void on_registrant_frame(turn& t, std::uint64_t connection, const bootstrap_frame& frame);
void on_registrant_ended(turn& t, std::uint64_t connection);
void note_unproved(turn& t, rank claimed);
/// This rank, which is not registered, knows that the job failed.
void note_told(turn& t, rank r);
/// The root answered this leader: every group is complete.
void answer_group(turn& t, const lane_address& successor_of_last);
void run_rendezvous_deadlines(turn& t);
void tell_registrants(turn& t);
bool all_registrants_told(const bootstrap_state& state);

// -- ring_machine.cpp -----------------------------------------------------------------------------

void begin_gathering(turn& t, const lane_address& successor);
void admit_predecessor(turn& t, std::uint64_t connection);
void on_successor_welcomed(turn& t);
void on_successor_ended(turn& t, const connection_end& end);
void on_predecessor_ended(turn& t, const connection_end& end);
void on_ring_frame(turn& t, ring_side& side, const bootstrap_frame& frame);
void run_ring_deadlines(turn& t);
void tell_ring(turn& t);
bool ring_told(const bootstrap_state& state);
void pump(turn& t, ring_side& side);
void depart(turn& t);
std::string describe_ring(const bootstrap_state& state);
/// When this rank ends a ring that does not form: a little earlier where it knows who is to blame,
/// so that the others hear a name.
instant witness_deadline(const bootstrap_state& state);
/// The neighbour that is to blame; `no_rank` if both are there.
rank culprit_of(const bootstrap_state& state);

// -- ring_repair.cpp ------------------------------------------------------------------------------

bool is_dead(const bootstrap_state& state, rank r);
void learn_death(turn& t, rank dead, death_source source);
bool may_become_predecessor(turn& t, rank dialer);
void begin_repair(turn& t);
void on_repair_refused(turn& t);
void finish_repair(turn& t);

// -- link_dialing.cpp -----------------------------------------------------------------------------

void on_link_wanted(turn& t, rank peer);
void on_link_dropped(turn& t, const link_dropped& event);
void admit_lane(turn& t, std::uint64_t connection);
void admit_held_lanes(turn& t);
void on_lane_welcomed(turn& t, std::uint64_t connection);
/// The connection is lane `lane` of the link from now on, and no longer ours.
void hand_over(turn& t, std::uint64_t connection, rank peer, std::uint8_t lane,
               const link_entry& link);
void on_lane_ended(turn& t, const connection_end& end);
void end_link(turn& t, rank peer, errc code, const std::string& cause);
void run_link_deadlines(turn& t);

// -- lane_rebuilding.cpp --------------------------------------------------------------------------

void on_lane_wanted(turn& t, const lane_wanted& event);
void admit_rebuilt_lane(turn& t, std::uint64_t connection);
void on_rebuilt_lane_welcomed(turn& t, std::uint64_t connection);
void on_rebuilt_lane_ended(turn& t, const connection_end& end);
/// The link ended, or another takes its place.
void stop_rebuilding(turn& t, link_entry& link);
void run_rebuilding_deadlines(turn& t);

// -- bootstrap_failure.cpp ------------------------------------------------------------------------

void fail_join(turn& t, errc code, rank peer, std::string text);
/// Reports the failure once all who wait for word have it.
void settle_failure(turn& t);
failed_frame failure_frame(const bootstrap_state& state);
duration margin_of(const bootstrap_options& options);
std::string describe(rank r, const lane_address& address);
std::string describe(duration d);
/// " (unreachable, native code 111)"; empty for no error.
std::string describe(const error& cause);
/// "ranks 3, 7-9" of those for which `missing` holds; at most 16 ranges, then how many more.
std::string describe_ranks(std::uint32_t first, const std::vector<bool>& missing);

// -- bootstrap_machine.cpp ------------------------------------------------------------------------

/// The book is complete and both neighbours are there: this rank has joined.
void join_if_complete(turn& t);

}  // namespace troupe::net::detail
