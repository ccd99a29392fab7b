#include "actors/rank/rank_machine.hpp"

#include <algorithm>
#include <string>

namespace troupe::actors {

namespace {

operation_number next_number(rank_state& state, const operation_called& call) {
  if (call.signature.kind == operation_kind::send)
    return {point_to_point_bit | ++state.sends[call.peer]};
  if (call.signature.kind == operation_kind::receive)
    return {point_to_point_bit | ++state.receives[call.peer]};
  if (is_one_sided(call.signature.kind))
    return one_sided_number(state.self, ++state.one_sided,
                            call.signature.kind == operation_kind::get);
  return {++state.last_collective.value};
}

failure mismatch_failure(const rank_state& state, operation_number number,
                         const operation_signature& ours, rank peer,
                         const operation_signature& theirs) {
  return {error{errc::mismatch, 0, peer},
          "operation " + std::to_string(number.value) + ": rank " +
              std::to_string(state.self.value) + " called " + to_string(ours) + ", rank " +
              std::to_string(peer.value) + " called " + to_string(theirs)};
}

void report_if_done(rank_state& state, rank_effects& out) {
  if (!state.finalizing || state.finalized || !state.running.empty()) return;
  state.finalized = true;
  out.push_back(report_finalized{});
}

void report_if_ended(rank_state& state, rank_effects& out) {
  if (!state.ending || !state.running.empty()) return;
  state.ending = false;
  out.push_back(report_ended{});
}

/// Ends everything that runs; later calls get the same failure.
void fail_here(rank_state& state, const failure& why, rank_effects& out) {
  state.sticky = why;
  for (const auto& operation : state.running)
    out.push_back(stop_operation{operation.slot, why});
  state.early.clear();
}

/// The first failure is final.
void fail_communicator(rank_state& state, const failure& why, rank_effects& out) {
  if (state.sticky.code() != errc::ok) return;
  // The reason goes out before the cancellations that follow from it.
  if (state.size > 1) out.push_back(spread_failure{why});
  fail_here(state, why, out);
}

/// Whether two ranks called the same operation. What travels of an all_to_all_v has the count of
/// one pair; whether its two ends agree is between them.
bool same_call(const operation_signature& one, const operation_signature& other) {
  operation_signature a = one, b = other;
  if (a.kind == operation_kind::all_to_all_v) a.count = 0;
  if (b.kind == operation_kind::all_to_all_v) b.count = 0;
  return a == b;
}

void remember(rank_state& state, const rank_state::running_operation& operation) {
  if (!is_collective(operation.number)) return;
  if (state.history.size() < history_operation_count) {
    state.history.push_back(operation);
    return;
  }
  state.history[state.oldest] = operation;
  state.oldest = (state.oldest + 1) % history_operation_count;
}

void check_early(rank_state& state, const rank_state::running_operation& operation,
                 rank_effects& out) {
  const auto found = std::find_if(state.early.begin(), state.early.end(),
                                  [&](const auto& e) { return e.operation == operation.number; });
  if (found == state.early.end()) return;
  const auto transfer = *found;
  std::erase_if(state.early, [&](const auto& e) { return e.operation == operation.number; });
  if (!same_call(transfer.theirs, operation.signature))
    fail_communicator(state,
                      mismatch_failure(state, operation.number, operation.signature, transfer.peer,
                                       transfer.theirs),
                      out);
}

void on(rank_state& state, const operation_called& event, rank_effects& out) {
  if (state.sticky.code() != errc::ok) {
    out.push_back(refuse_operation{event.slot, state.sticky});
    return;
  }
  if (state.finalizing) {
    out.push_back(refuse_operation{
        event.slot, {errc::finalized, "the communicator was finalized before this call"}});
    return;
  }
  const rank_state::running_operation operation{event.slot, next_number(state, event),
                                                event.signature};
  state.running.push_back(operation);
  remember(state, operation);
  out.push_back(start_operation{operation.slot, operation.number});
  check_early(state, operation, out);
}

void on(rank_state& state, const operation_ended& event, rank_effects& out) {
  std::erase_if(state.running, [&](const auto& o) { return o.slot == event.slot; });
  if (event.why.code() != errc::ok) fail_communicator(state, event.why, out);
  report_if_ended(state, out);
  report_if_done(state, out);
}

void on(rank_state& state, const failure_heard& event, rank_effects& out) {
  fail_communicator(state, event.why, out);
}

void on(rank_state& state, const unmatched_heard& event, rank_effects& out) {
  if (state.sticky.code() != errc::ok) return;
  if (event.operation.value & point_to_point_bit) return;  // the other side called first: legal
  if (event.operation.value & promised_bit) return;        // so is an operation that waits here
  if (event.operation.value & one_sided_bit) {
    const std::string peer = "rank " + std::to_string(event.peer.value);
    return fail_communicator(
        state,
        {error{errc::mismatch, 0, event.peer},
         peer + " has closed a window that this rank put into; members meet in a barrier before " +
             "the first of them destroys a window"},
        out);
  }
  const auto called = std::find_if(state.history.begin(), state.history.end(),
                                   [&](const auto& o) { return o.number == event.operation; });
  if (called != state.history.end()) {
    // A peer may be late or early with an operation of ours; only another signature is an error.
    if (!same_call(called->signature, event.theirs))
      fail_communicator(
          state,
          mismatch_failure(state, event.operation, called->signature, event.peer, event.theirs),
          out);
    return;
  }
  if (event.operation <= state.last_collective) return;  // older than the history
  if (state.early.size() < early_transfer_count)
    state.early.push_back({event.peer, event.operation, event.theirs});
}

void on(rank_state& state, const member_lost& event, rank_effects& out) {
  // After finalize nothing of ours needs the member any more.
  if (state.finalized) return;
  fail_communicator(state, event.why, out);
}

void on(rank_state& state, const member_connected& event, rank_effects& out) {
  if (state.sticky.code() == errc::ok) return;
  out.push_back(tell_failure{event.member, state.sticky});
}

void on(rank_state& state, const abort_called&, rank_effects& out) {
  fail_communicator(state,
                    {error{errc::aborted, 0, state.self},
                     "rank " + std::to_string(state.self.value) + " aborted the communicator"},
                    out);
}

void on(rank_state& state, const epoch_ending& event, rank_effects& out) {
  // Nobody has to be told: the members end it together.
  if (state.sticky.code() == errc::ok) fail_here(state, event.why, out);
  state.ending = true;
  report_if_ended(state, out);
}

void on(rank_state& state, const finalize_called&, rank_effects& out) {
  state.finalizing = true;
  report_if_done(state, out);
}

}  // namespace

void step(rank_state& state, const rank_event& event, rank_effects& out) {
  std::visit([&](const auto& e) { on(state, e, out); }, event);
}

}  // namespace troupe::actors
