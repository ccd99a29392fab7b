#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <memory_resource>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "actors/bootstrap/bootstrap_messages.hpp"
#include "actors/byte_mover/byte_mover.hpp"
#include "actors/collective/turn_machine.hpp"
#include "actors/collector/operation_counters.hpp"
#include "actors/communicator/invitation.hpp"
#include "actors/dqplb/dqplb_messages.hpp"
#include "actors/endpoint/endpoint_messages.hpp"
#include "actors/endpoint/exit_reader.hpp"
#include "actors/endpoint/lane_router.hpp"
#include "actors/endpoint/operation_table.hpp"
#include "actors/endpoint/scratch_pool.hpp"
#include "actors/endpoint/self_transfers.hpp"
#include "actors/endpoint/stranger_log.hpp"
#include "actors/endpoint/window_table.hpp"
#include "actors/qp_group/qp_group_messages.hpp"
#include "actors/trace/flight_recorder.hpp"
#include "actors/worker/timer_queue.hpp"
#include "actors/worker/worker.hpp"
#include "config/options.hpp"
#include "net/bootstrap/bootstrap_state.hpp"
#include "runtime/buffer_table.hpp"
#include "runtime/lane.hpp"
#include "runtime/memory_ledger.hpp"
#include "runtime/place.hpp"
#include "runtime/random.hpp"
#include "runtime/slab.hpp"

namespace troupe::actors {

/// Who this endpoint is in its job.
struct endpoint_identity {
  rank self{0};
  std::uint32_t world_size = 1;
  lane_address rendezvous{};
  std::uint64_t job_hash = 0;
  std::optional<invitation> invited{};  ///< the job has begun, and this lets the endpoint in
  place_code where{};
};

/// What the actors of one endpoint share: they all run on one thread, so it is plain memory. Owned
/// by `endpoint_host`, which outlives the actors.
///
/// Thread: the worker only.
struct endpoint_context {
  endpoint_context(const config::options& all, const endpoint_identity& who, worker& where,
                   buffer_table& memory, lane_network& wire, operation_counters& counts,
                   memory_ledger& bytes);
  ~endpoint_context();

  memory_ledger& ledger;
  const memory_charge own_bytes;

  /// Messages between actors of this endpoint, and what a rank knows its operations by. Outlives
  /// them: it goes last.
  slab control;

  const config::options& options;
  const endpoint_identity identity;
  worker& home;
  buffer_table& buffers;
  lane_network& network;

  timer_queue timers;
  lane_router router;
  byte_mover mover;
  scratch_pool scratch;
  self_transfers to_self;
  window_table windows;
  operation_table operations;
  operation_counters& counters;
  flight_recorder recorder;
  stranger_log strangers;
  std::unique_ptr<exit_reader> exits;  ///< null: nobody tells which processes ended

  endpoint_actor endpoint;
  bootstrap_actor bootstrap;
  std::array<dqplb_actor, tier_count> dqplb;  ///< by tier

  std::pmr::unordered_map<std::uint32_t, qp_group_actor> links;  ///< by world rank
  std::pmr::map<std::uint32_t, rank_actor> ranks;                ///< by communicator id
  std::map<std::uint64_t, std::unique_ptr<lane>> lane_shelf;     ///< by connection, on their way
  std::map<rank, std::shared_ptr<const failure>> dead;           ///< world ranks that ended
  const net::bootstrap_state* book_owner = nullptr;              ///< addresses, once joined
  random_stream tokens{0};  ///< of invitations; seeded with entropy of the system
  timer_queue::timer_id watchdog_timer = 0;
  bool watchdog_armed = true;         ///< nobody to wake before there is a watchdog
  std::uint32_t unmatched_links = 0;  ///< links that hold transfers which no call of ours matches
  bool leaving = false;

  /// Operations that wait for staging memory, oldest first; bounded by the operation table.
  std::vector<operation_slot> scratch_waiters;

  /// Which collectives run, and which wait for their turn. A collective has up to 32 transfers open
  /// with one peer, and a link has room for `transport.transfer_count`: that says how many.
  turn_state turns;

  /// Steps `turns` and tells a waiter that may begin. True if the operation that asked may go on.
  bool drive(const turn_event& event);

  /// Memory came back or somebody may overdraw now: those who wait try again.
  void wake_scratch_waiters();

  /// Operations run, or a link holds what nothing matches: the watchdog has to look. No message.
  void wake_watchdog();

  /// Every handler of every actor of the endpoint begins with this: counts, notes how many messages
  /// wait behind it, and, where a test asked for it, throws as a broken actor would.
  void on_message(actor_kind kind, std::size_t mailbox_depth = 0);

  /// Fault injection: the next message that an actor of this kind handles throws.
  void break_next(actor_kind kind) { broken_kind_ = kind; }

  instant now() const { return home.recent(); }

  template <class Handle, class Message>
  void send(const Handle& to, Message&& message) {
    post(control, home.unit(), to, std::forward<Message>(message));
  }

  template <class Handle, class Message>
  void send_urgent(const Handle& to, Message&& message) {
    post_urgent(control, home.unit(), to, std::forward<Message>(message));
  }

  /// The link to world rank `peer`; made on first use. The endpoint supervises it.
  const qp_group_actor& link_to(rank peer);

  /// What carries the operations of a communicator: the slowest kind among the lanes to its other
  /// members. Asked once a communicator, and again when the network chose anew.
  lane_kind lanes_among(communicator_id id, const membership& members);
  void forget_lanes(communicator_id id) { known_lanes_.erase(id.value); }

  /// The distance class of world rank `peer`; unknown before this endpoint has joined.
  tier tier_of(rank peer) const;

  /// "rank 3 (127.0.0.1:4711)", for texts.
  std::string describe(rank peer) const;

 private:
  struct known_lanes {
    std::uint64_t changes = 0;  ///< `kind_changes()` of the network when it was asked
    lane_kind kind = lane_kind::none;
  };

  std::unordered_map<std::uint32_t, known_lanes> known_lanes_;  ///< by communicator id
  std::optional<actor_kind> broken_kind_;
};

}  // namespace troupe::actors
