#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/errc.hpp"
#include "runtime/instant.hpp"
#include "runtime/operation_record.hpp"
#include "runtime/strong_types.hpp"

namespace troupe {

/// Where an endpoint is in its life. Numbers appear in dumps: stable.
enum class endpoint_phase : std::uint8_t {
  starting = 0,  ///< made, not joining yet
  joining = 1,   ///< until every rank of the world is known
  joined = 2,
  failed = 3,   ///< it could not join
  leaving = 4,  ///< says good-bye
  left = 5,
};

std::string_view to_string(endpoint_phase phase);

/// One communicator as its member sees it.
struct communicator_report {
  communicator_id id;
  troupe::epoch epoch;
  rank self;
  std::uint32_t size = 0;
  std::vector<rank> members;        ///< world ranks by member; empty: the world itself
  std::uint64_t last_called = 0;    ///< number of the newest collective that the rank took
  std::uint64_t last_started = 0;   ///< of the newest one that ran its algorithm
  std::uint64_t last_ended = 0;     ///< of the newest one that ended
  std::uint64_t calls_waiting = 0;  ///< called by the trainer and not done
  instant last_call{};              ///< when the rank took a call
  instant last_progress{};          ///< when a call was taken or an operation ended
  errc failed = errc::ok;           ///< why it failed for good
  rank failed_peer = no_rank;       ///< member that the failure names
  std::string failure;              ///< the text of it
  bool finalized = false;
};

/// The link to one peer.
struct link_report {
  rank peer;                       ///< world rank
  std::uint32_t lanes_open = 0;    ///< 0 while the link is being made
  std::uint32_t lanes_wanted = 0;  ///< control lane included
  std::uint32_t lanes_lost = 0;    ///< that died or were given up since the link was made
  instant last_heard{};            ///< of the peer
  instant last_sent{};
  bool lost = false;
  bool waits_for_credit = false;  ///< the peer owes room for small messages
  bool waits_for_budget = false;  ///< the tier owes room for bytes in flight
  instant looked{};               ///< when this was noted
};

/// Something that happens rarely and explains much.
enum class incident_kind : std::uint8_t {
  peer_lost = 0,         ///< a process ended or its link is gone
  lane_lost = 1,         ///< a lane died or was given up
  operation_failed = 2,  ///< of a communicator that had not failed before
  stranger_refused = 3,
  join_failed = 4,
  actor_failed = 5,
  peer_silent = 6,  ///< nothing was heard of it past `transport.silence_timeout`
};

std::string_view to_string(incident_kind kind);

struct incident {
  incident_kind kind = incident_kind::peer_lost;
  instant at{};
  rank peer = no_rank;  ///< world rank
  errc code = errc::ok;
  std::string text;
};

/// The thread that runs the endpoint's actors.
struct worker_report {
  instant last_round{};        ///< when it began its last round of polls and messages
  bool parked = false;         ///< asleep, because nothing was to do
  std::uint64_t messages = 0;  ///< handled by all actors
};

/// Everything that one rank knows of itself at one moment: what `communicator::dump`, a signal, the
/// watchdog and `troupe dump` give out, and what the fault analyser reads.
///
/// Taking one never waits for the worker: it works while the endpoint joins, is stuck, aborts or
/// leaves. What the worker was just changing may be missing; `complete` is false then.
struct rank_dump {
  rank self;
  std::uint32_t world_size = 1;
  std::uint64_t job = 0;  ///< hash of the job's name, equal on all its ranks
  std::string host;
  std::uint32_t process = 0;
  endpoint_phase phase = endpoint_phase::starting;
  std::string joining_detail;       ///< while joining: what the endpoint waits for
  std::string cause;                ///< why the dump was taken: call, signal, watchdog, request
  instant taken_at{};               ///< on the clock of all instants in here
  std::int64_t taken_at_unix_ns{};  ///< the same moment on the wall clock
  bool complete = true;
  worker_report worker;
  std::vector<communicator_report> communicators;
  std::vector<operation_record> operations;  ///< by serial: past, current and pending
  std::vector<link_report> links;
  std::vector<incident> incidents;  ///< oldest first

  /// A moment of this rank's clock on the wall clock, for comparison with other ranks.
  std::int64_t to_unix_ns(instant at) const { return taken_at_unix_ns - (taken_at - at).count(); }

  const communicator_report* find(communicator_id id) const;

  /// The world rank of a member; `no_rank` if this rank does not know the communicator.
  rank to_world(communicator_id id, rank member) const;
};

}  // namespace troupe
