#pragma once

#include <cstddef>
#include <cstdint>

#include "net/link/link_machine.hpp"

namespace troupe::net::detail {

/// One call of `step`: the state, the time and where effects go.
struct link_step {
  link_state& s;
  instant now;
  link_effects& out;

  /// Room for `count` effects, the timer and `resume_soon` aside.
  bool has_room(std::size_t count) const { return out.size() + count + 2 <= out.capacity(); }

  error about_peer(errc code, std::int32_t native = 0) const {
    return {code, native, s.options.peer};
  }
};

/// Answer of a pump: did it stop because the step has no room for more effects?
enum class pumped : std::uint8_t { all, until_full };

// -- endings.cpp: how transfers and the link end --------------------------------------------------

void on_operation_cancelled(link_step& step, const operation_cancelled& event);
void on_epoch_advanced(link_step& step, const epoch_advanced& event);
void on_cancel(link_step& step, const cancel_body& body);

/// The transfer is over here: what is left is withdrawing its key and the report. `theirs`: the
/// peer's signature if `failed` is a mismatch.
void finish(link_step& step, std::uint32_t index, error failed,
            const operation_signature& theirs = {});

/// Both sides disagree about the transfer: it ends here, and the peer is told our signature.
void finish_mismatched(link_step& step, std::uint32_t index, const operation_signature& theirs);

/// Forgets an announcement of the peer and frees what it occupies.
void drop_early(link_step& step, std::uint32_t index);

/// Early transfers: announced by the peer, unknown to the owner. Null if the peer announced more
/// than it may; then the link is lost.
transfer* add_early(link_step& step, const transfer_id& id, transfer_side side,
                    transfer_phase phase);

/// The link is over: lanes are closed, every transfer ends with `cause`.
void lose(link_step& step, error cause);

pumped pump_endings(link_step& step);
pumped pump_unmatched(link_step& step);
void pump_loss(link_step& step);

// -- put_path.cpp: transfers to the peer ----------------------------------------------------------

void on_put_requested(link_step& step, const put_requested& event);
void on_ready(link_step& step, const ready_body& body);
void on_grant(link_step& step, const grant_body& body);

/// No more bytes of this put: it ends when nothing of it is under way.
void stop_put(link_step& step, std::uint32_t index, error failed, transfer_closing closing);

/// Channels whose writes are done become free once the peer processed their `begin`.
void free_channels(link_step& step);

void pump_channels(link_step& step);

/// A queued put can have its channel: one that was held back until others had sent everything.
bool may_begin(const link_state& s);
pumped pump_eager(link_step& step);
pumped pump_segments(link_step& step);

// -- budget_path.cpp: what may be in flight -------------------------------------------------------

void on_budget_granted(link_step& step, const budget_granted& event);
pumped pump_budget(link_step& step);

/// Bytes of the next segment of `t` under budget and window; 0 if it must wait for more.
std::uint64_t next_length(link_state& s, const transfer& t);

// -- write_path.cpp: writes between post and acknowledgement --------------------------------------

/// Fills in the rest of a segment just pushed, and posts it.
void post(link_step& step, segment& s, std::uint8_t lane);

void on_write_finished(link_step& step, const write_finished& event);

/// The lane no longer reads the source of this write.
void note_finished(link_step& step, segment& s);

void on_data_acknowledged(link_step& step, sequence number);
void on_slots_consumed(link_step& step, std::uint32_t total);
void retire_writes(link_step& step);
pumped pump_repeats(link_step& step);

/// Lane for a segment under the limits of the tier.
std::uint8_t pick_for_data(link_state& s);

/// The segment no longer counts against the budget: its lane is done with it, or the peer has it.
void discharge(link_state& s, segment& w);

// -- accept_path.cpp: transfers from the peer -----------------------------------------------------

void on_accept_requested(link_step& step, const accept_requested& event);
void on_write_received(link_step& step, const write_received& event);
void on_request(link_step& step, const request_body& body);
void on_begin(link_step& step, const begin_body& body);
void on_decline(link_step& step, const decline_body& body);
void on_refuse(link_step& step, const refuse_body& body);
void pump_grants(link_step& step);

// -- eager_arrival.cpp ----------------------------------------------------------------------------

/// An eager message of `bytes` lies in `slot` of our receive ring.
void on_eager_arrived(link_step& step, std::uint32_t slot, std::uint64_t bytes);

/// Copies the payload of an early eager message to its accept.
void copy_early_eager(link_step& step, std::uint32_t index, const buffer_view& target);

/// Frees the parking place or the slot of an early eager message.
void release_early_eager(link_step& step, std::uint32_t index);

/// Moves early messages from slots to parking places that became free.
pumped pump_parking(link_step& step);

// -- control_path.cpp: the control stream ---------------------------------------------------------

void on_message_received(link_step& step, const message_received& event);
void on_notice_requested(link_step& step, const notice_requested& event);

/// Header of everything that leaves now; notes that the peer will know.
control_header make_header(link_step& step);

/// What a header of the peer acknowledges.
void on_acknowledgements(link_step& step, const control_header& header);

/// Posts one message that has no place in the stream.
void post_outside_stream(link_step& step, std::uint8_t lane, const control_body& body);

void acknowledge_soon(link_step& step);
void acknowledge_at_once(link_step& step);

/// Takes what is to be said into the control stream while there is room.
void fill_control_stream(link_step& step);
pumped pump_control(link_step& step);
void pump_acknowledgement(link_step& step);

// -- lane_path.cpp: lives of lanes, and fences ----------------------------------------------------

void on_lane_opened(link_step& step, const lane_opened& event);
void on_lane_failed(link_step& step, const lane_failed& event);
void on_hello(link_step& step, std::uint8_t lane, const hello_body& body);
void on_lane_reset(link_step& step, const lane_reset_body& body);
void on_lane_fenced(link_step& step, const lane_fenced_body& body);

/// Closes a lane that did not keep its promises.
void give_up(link_step& step, std::uint8_t lane);

/// Next page of what arrived on a lane that is closed here, if one is due.
bool append_fence_page(link_step& step);

// -- timer_path.cpp -------------------------------------------------------------------------------

void on_link_timer_fired(link_step& step, const link_timer_fired& event);
void arm_timer(link_step& step);

// -- what both paths ask --------------------------------------------------------------------------

/// True if nothing may come of this transfer any more; counts what is dropped.
bool is_over(link_step& step, const transfer_id& id);

inline bool agrees(const transfer& t, const operation_signature& signature, std::uint64_t bytes) {
  return t.signature == signature && t.bytes() == bytes;
}

}  // namespace troupe::net::detail
