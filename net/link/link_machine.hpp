#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

#include "net/link/link_state.hpp"
#include "runtime/buffer_table.hpp"
#include "runtime/buffer_view.hpp"
#include "runtime/inline_list.hpp"
#include "runtime/instant.hpp"
#include "runtime/lane.hpp"
#include "runtime/operation.hpp"

namespace troupe::net {

// -- events: what happened ------------------------------------------------------------------------

/// Lane `lane` (0: control, 1 to N: data) is connected and takes `depth` writes at once. Also
/// re-admits a lane that failed.
struct lane_opened {
  std::uint8_t lane = 0;
  std::uint32_t depth = 0;
};

/// Lane `lane` is dead; what was in flight on it may or may not have arrived.
struct lane_failed {
  std::uint8_t lane = 0;
  error cause{};
};

/// A control message arrived on `lane`.
struct message_received {
  std::uint8_t lane = 0;
  std::span<const std::byte> bytes{};
};

/// A write arrived on `lane` and its bytes are in place; `refused`: it named a dead key and
/// nothing was written.
struct write_received {
  std::uint8_t lane = 0;
  std::uint32_t immediate = 0;
  std::uint64_t bytes = 0;
  bool refused = false;
};

/// The lane no longer reads the source of the segment it was given with `context`.
struct write_finished {
  std::uint8_t lane = 0;
  std::uint64_t context = 0;
};

/// The owner wants `source` to arrive in the peer's accept of the same id. Ends in one
/// `report_put` with the same token, or in one `release_source` if it was cancelled before.
///
/// A put into a window (`is_window_put`): into `window` at once, whatever the peer does;
/// `report_put` says that the bytes are there.
struct put_requested {
  transfer_id id;
  operation_signature signature;
  buffer_view source;
  std::uint64_t token = 0;
  remote_region window{};
};

/// The owner wants the peer's put of the same id in `target`. `key` exposes `target` to the peer
/// (0 where `needs_key` says that the transfer is eager). Ends in one `report_accept`.
struct accept_requested {
  transfer_id id;
  operation_signature signature;
  buffer_view target;
  std::uint64_t key = 0;
  std::uint64_t token = 0;
};

/// The operation ended early: its transfers end without reports, their keys are withdrawn, what
/// still arrives for it is dropped, and the peer is told. Each of its puts ends in one
/// `release_source` instead: until then a lane may still read the source.
struct operation_cancelled {
  communicator_id communicator;
  troupe::epoch epoch;
  operation_number operation;
};

/// The owner knows that the peer is gone or cannot be reached (its process ended, no connection
/// before the deadline): every transfer ends in a report with `cause`, then `report_lost`. Also
/// with no lane open yet.
struct link_abandoned {
  error cause{};
};

/// Everything of `communicator` below `epoch` is dropped from now on, and counted. Its transfers
/// end as those of a cancelled operation.
struct epoch_advanced {
  communicator_id communicator;
  troupe::epoch epoch;
};

/// The owner has up to `notice_bytes_max` bytes for the peer's owner, in order and once. The owner
/// asks `notice_room` before.
struct notice_requested {
  std::span<const std::byte> bytes{};
};

/// The tier grants `bytes` more of data in flight.
struct budget_granted {
  std::uint64_t bytes = 0;
};

/// The timer of `arm_link_timer` with this generation fired. Older generations are ignored.
struct link_timer_fired {
  std::uint64_t generation = 0;
};

/// Asks for the transfers that arrived and match nothing since before `older_than`: each is
/// reported once as `report_unmatched`.
struct unmatched_requested {
  instant older_than = never;
};

/// The driver applied all effects of a step that ended in `resume_soon`.
struct link_resumed {};

using link_event =
    std::variant<lane_opened, lane_failed, message_received, write_received, write_finished,
                 put_requested, accept_requested, operation_cancelled, link_abandoned,
                 epoch_advanced, notice_requested, budget_granted, link_timer_fired,
                 unmatched_requested, link_resumed>;

// -- effects: what to do --------------------------------------------------------------------------

/// Post this segment on `lane`. The machine keeps within the lane's depth, so the post is accepted
/// or the lane is lost.
struct post_segment {
  std::uint8_t lane = 0;
  lane_write write{};
};

/// Post this control message on `lane`. The machine keeps within the lane's depth.
struct post_control {
  std::uint8_t lane = 0;
  std::uint16_t length = 0;
  std::array<std::byte, control_bytes_max> frame{};

  std::span<const std::byte> bytes() const { return {frame.data(), length}; }
};

/// Build an eager message in slot `slot` of the staging ring: `header`, then the bytes of
/// `source`. The `post_segment` that sends it follows.
struct stage_eager {
  std::uint32_t slot = 0;
  std::array<std::byte, eager_header_bytes> header{};
  buffer_view source;
};

/// Copy `bytes` of payload from slot `slot` of the receive ring to `target`.
struct drain_eager {
  std::uint32_t slot = 0;
  std::uint64_t bytes = 0;
  buffer_view target;
};

/// Keep the payload of receive slot `slot`, which matches nothing yet, in parking place `place`.
struct park_eager {
  std::uint32_t slot = 0;
  std::uint64_t bytes = 0;
  std::uint32_t place = 0;
};

/// Copy what parking place `place` keeps to `target`; the place is free again.
struct unpark_eager {
  std::uint32_t place = 0;
  std::uint64_t bytes = 0;
  buffer_view target;
};

/// The peer has everything of the put (an eager one: we have a copy): its source is free.
/// `failed.code` is ok or
///   mismatch      the peer has another operation or size under this id: `theirs` is its signature
///   aborted       the peer's operation ended early
///   peer_lost     the link is gone (or the cause that `report_lost` names)
///   queue_full    more than `transfer_count_max` transfers are pending; nothing was started
///   bad_argument  a transfer with this id is pending already, or needs a key and has none
struct report_put {
  std::uint64_t token = 0;
  error failed{};
  operation_signature theirs{};
};

/// All bytes of the accept are in its target. `failed` as in `report_put`.
struct report_accept {
  std::uint64_t token = 0;
  error failed{};
  operation_signature theirs{};
};

/// No lane reads the source of the cancelled put with this token any more.
struct release_source {
  std::uint64_t token = 0;
};

/// The peer has another operation or size under this id than the eager put that was reported done
/// before. The operation may have ended here already.
struct report_refused {
  transfer_id id;
  operation_signature theirs{};
};

/// Withdraw this exposure. Comes before the report of its accept. `revoked`: the peer may be
/// writing under it.
struct withdraw_key {
  std::uint64_t key = 0;
  exposure_end how = exposure_end::revoked;
};

/// A peer's transfer waits here for an operation that this rank has not called.
struct report_unmatched {
  transfer_id id;
  operation_signature theirs{};
};

/// The peer's owner sent this notice.
struct deliver_notice {
  std::uint16_t length = 0;
  std::array<std::byte, notice_bytes_max> frame{};

  std::span<const std::byte> bytes() const { return {frame.data(), length}; }
};

/// Ask the tier for the right to have `bytes` more in flight; answered by `budget_granted`.
struct request_budget {
  std::uint64_t bytes = 0;
};

/// Give `bytes` of granted budget back to the tier: they are no longer in flight.
struct return_budget {
  std::uint64_t bytes = 0;
};

/// A put of the peer into a window of ours ended: all its bytes are in place, and those of every
/// write that it posted before. `failed`: it was stopped, or its key is dead.
struct report_written {
  transfer_id id;
  error failed{};
};

/// Wake the machine at `deadline` with `link_timer_fired{generation}`; replaces the timer before.
struct arm_link_timer {
  instant deadline = never;
  std::uint64_t generation = 0;
};

/// Close this lane: it failed, the machine gave it up, or the peer closed its end. No event of it
/// follows, not even one that the driver holds already.
struct close_lane {
  std::uint8_t lane = 0;
  bool is_missed = false;  ///< the link goes on without it and would take another in its place
};

/// No lane is left, or the peer broke the protocol: the peer is lost. Every transfer ended in a
/// report with this cause before.
struct report_lost {
  error cause{};
};

/// The step stopped at its bound with work left: drive `link_resumed` after these effects.
struct resume_soon {};

using link_effect =
    std::variant<post_segment, post_control, stage_eager, drain_eager, park_eager, unpark_eager,
                 report_put, report_accept, report_written, release_source, report_refused,
                 withdraw_key, report_unmatched, deliver_notice, request_budget, return_budget,
                 arm_link_timer, close_lane, report_lost, resume_soon>;

using link_effects = inline_list<link_effect, link_effects_max>;

// -- the machine ----------------------------------------------------------------------------------

/// The connection between two ranks: one control lane and N data lanes; segmentation, sequence
/// numbers, the reorder window, credits, the small-message path, and what happens when lanes die.
///
/// Total: every event is defined in every state (table in docs/protocols/link.md).
/// Cost:  O(1) per segment; no allocation after `link_state` was made.
void step(link_state& state, const link_event& event, instant now, link_effects& out);

/// True if a transfer of `bytes` needs an exposure of its target (it is not eager).
bool needs_key(const link_state& state, std::uint64_t bytes);

/// The owner may ask for another put or accept; otherwise it is reported as queue_full.
bool has_put_room(const link_state& state);

/// Something of the peer waits that matches no request and was not reported as unmatched.
bool holds_unmatched(const link_state& state);

/// Notices that can be requested now.
std::uint32_t notice_room(const link_state& state);

}  // namespace troupe::net
