#pragma once

#include <variant>
#include <vector>

#include "net/membership/membership_state.hpp"
#include "net/membership/membership_wire.hpp"

namespace troupe::net {

// -- events ---------------------------------------------------------------------------------------

/// `from` is who the link says it is; `no_member` for a rank from outside.
struct membership_frame_received {
  member_id from;
  membership_frame frame;
};

/// Silence, a broken lane or a stalled operation: `member` may be gone.
struct member_suspected {
  member_id member;
};

/// Proof: the process of `member` ended.
struct member_ended {
  member_id member;
};

/// An operation failed or is stuck here, and all members have to agree what became of it.
struct decision_needed {};

/// The trainer wants these members out, whatever they say; the word of the trainer is proof.
struct reconfigure_wanted {
  member_list without;
};

/// A rank that shows this token may come in.
struct token_issued {
  std::uint64_t token = 0;
};

/// Answer to `close_epoch`: nothing of the epoch runs here any more, no lane writes into memory of
/// this rank, and no confirmation will be sent.
struct epoch_closed {
  operation_progress progress;
};

/// No operation runs here (or one does again).
struct boundary_passed {
  bool reached = true;
};

/// joining: show the token again.
struct join_retried {};

/// This member leaves for good, of its own accord: nobody has to wait for it.
struct leave_wanted {
  errc why = errc::finalized;
};

struct membership_timer_fired {
  membership_timer timer = membership_timer::patience;
  std::uint32_t generation = 0;
};

using membership_event =
    std::variant<membership_frame_received, member_suspected, member_ended, decision_needed,
                 reconfigure_wanted, token_issued, epoch_closed, boundary_passed, join_retried,
                 leave_wanted, membership_timer_fired>;

// -- effects --------------------------------------------------------------------------------------

/// Send `frame` to member `to`. Losing it costs time, nothing else.
struct send_membership {
  member_id to;
  membership_frame frame;
};

/// Tell the rank that showed `token` that it is in.
struct send_to_joiner {
  std::uint64_t token = 0;
  membership_frame frame;
};

/// joining: show the token to the member that gave it.
struct send_join {
  membership_frame frame;
};

/// Stop every operation of this epoch, withdraw what lanes may write to, then answer
/// `epoch_closed`. Comes once an epoch.
struct close_epoch {
  troupe::epoch epoch;
};

/// This member is in this epoch from now on.
struct enter_epoch {
  epoch_record record;
};

/// This member is out for good: `evicted`, `no_quorum`, or why it wanted to leave.
struct leave_communicator {
  errc why = errc::evicted;
};

/// Answer `membership_timer_fired` at `deadline`; replaces the timer of the same kind.
struct arm_membership_timer {
  membership_timer timer = membership_timer::patience;
  instant deadline{};
  std::uint32_t generation = 0;
};

using membership_effect = std::variant<send_membership, send_to_joiner, send_join, close_epoch,
                                       enter_epoch, leave_communicator, arm_membership_timer>;

/// At most two frames for each member, each rank that comes in, and ten more. Control path.
using membership_effects = std::vector<membership_effect>;

/// The view change: moves a communicator from one epoch to the next, so that no two live epochs
/// have different members and no result that somebody returned is contradicted.
///
/// Total: every event is defined in every state (table in docs/protocols/membership.md).
/// Cost:  2 round trips between one leader and the members of the epoch.
/// Source: Lamport, "The Part-Time Parliament", TOCS 16(2), 1998, one instance an epoch; Oki &
///         Liskov, PODC 1988, for the view.
void step(membership_state& state, const membership_event& event, instant now,
          membership_effects& out);

}  // namespace troupe::net
