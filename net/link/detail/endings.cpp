#include "net/link/detail/link_step.hpp"
#include "runtime/mark.hpp"

namespace troupe::net::detail {

namespace {

void count_ending(link_counters& c, const transfer& t) {
  if (t.closing != transfer_closing::report) {
    ++c.transfers_cancelled;
  } else if (t.failed.code == errc::ok) {
    ++(t.side == transfer_side::put ? c.puts_finished : c.accepts_finished);
  } else if (t.failed.code == errc::mismatch) {
    ++c.transfers_mismatched;
  } else if (t.failed.code == errc::aborted) {
    ++c.transfers_aborted;
  } else {
    ++c.transfers_lost;
  }
}

// The channel that a receiving accept is bound to goes on without it.
void leave_channel(link_step& step, const transfer& t) {
  if (t.phase == transfer_phase::accept_receiving) {
    step.s.channels_in[t.channel].transfer = no_index;
  }
}

// Ends one transfer of an operation that is over. `failed` is what a report would say.
void end_with_operation(link_step& step, std::uint32_t index, error failed,
                        transfer_closing put_closing, transfer_closing accept_closing) {
  auto& t = step.s.transfers[index];
  if (t.phase == transfer_phase::ended) {
    // Its report waits for room in a step: a cancelled transfer has none.
    if (put_closing == transfer_closing::report || t.closing != transfer_closing::report) return;
    t.closing = t.side == transfer_side::put ? put_closing : accept_closing;
  } else if (!t.local) {
    ++step.s.counters.stale_operation_dropped;
    leave_channel(step, t);
    drop_early(step, index);
  } else if (t.side == transfer_side::put) {
    stop_put(step, index, failed, put_closing);
  } else {
    t.closing = accept_closing;
    finish(step, index, failed);
  }
}

template <class Belongs>
void end_all(link_step& step, Belongs belongs, error failed, transfer_closing put_closing,
             transfer_closing accept_closing) {
  auto index = step.s.transfers.first_live();
  while (index != no_index) {
    const auto next = step.s.transfers.next_live(index);
    if (belongs(step.s.transfers[index].id)) {
      end_with_operation(step, index, failed, put_closing, accept_closing);
    }
    index = next;
  }
}

}  // namespace

void finish(link_step& step, std::uint32_t index, error failed, const operation_signature& theirs) {
  auto& table = step.s.transfers;
  auto& t = table[index];
  leave_channel(step, t);
  if (t.tell == transfer_notice::grant) {
    TROUPE_MARK("link: grant withdrawn before it was sent");
    step.s.eager_in.decline(t.channel);
  }
  if (t.tell != transfer_notice::release) table.untell(index);
  table.hide(index);
  t.phase = transfer_phase::ended;
  t.failed = failed;
  if (failed.code == errc::mismatch) {
    t.refused_with = t.signature;
    t.signature = theirs;
  }
  table.move_to(transfer_list::ending, index);
}

void finish_mismatched(link_step& step, std::uint32_t index, const operation_signature& theirs) {
  finish(step, index, step.about_peer(errc::mismatch), theirs);
  step.s.transfers.tell(transfer_notice::refuse, index);
}

bool is_over(link_step& step, const transfer_id& id) {
  auto& s = step.s;
  if (s.memory.is_below_floor(id.communicator, id.epoch)) {
    TROUPE_MARK("link: transfer of an old epoch dropped");
    ++s.counters.stale_epoch_dropped;
    return true;
  }
  if (s.memory.cancelled_here(operation_of(id))) {
    TROUPE_MARK("link: transfer of a cancelled operation dropped");
    ++s.counters.stale_operation_dropped;
    return true;
  }
  return false;
}

transfer* add_early(link_step& step, const transfer_id& id, transfer_side side,
                    transfer_phase phase) {
  auto& s = step.s;
  if (s.transfers.early_full()) {
    lose(step, step.about_peer(errc::malformed));
    return nullptr;
  }
  const auto index = s.transfers.add(id, side);
  auto& t = s.transfers[index];
  t.phase = phase;
  t.since = step.now;
  s.transfers.move_to(transfer_list::unreported, index);
  return &t;
}

void drop_early(link_step& step, std::uint32_t index) {
  auto& s = step.s;
  auto& t = s.transfers[index];
  const bool in_slot = t.phase == transfer_phase::eager_in_slot;
  if (in_slot) TROUPE_MARK("link: early eager message dropped from its slot");
  if (in_slot || t.phase == transfer_phase::eager_parked) release_early_eager(step, index);
  s.transfers.hide(index);
  s.transfers.move_to(transfer_list::none, index);
  s.transfers.untell(index);
  s.transfers.remove(index);
}

void on_operation_cancelled(link_step& step, const operation_cancelled& event) {
  auto& s = step.s;
  const operation_id operation{event.communicator, event.epoch, event.operation};
  end_all(
      step, [&](const transfer_id& id) { return operation_of(id) == operation; },
      step.about_peer(errc::aborted), transfer_closing::release, transfer_closing::silent);
  const bool known = s.memory.cancelled_here(operation);
  s.memory.note_cancelled(operation, true);
  if (known || s.memory.cancelled_by_peer(operation) || s.lost) return;
  if (!s.memory.tell(operation)) ++s.counters.cancels_forgotten;
}

void on_epoch_advanced(link_step& step, const epoch_advanced& event) {
  auto& s = step.s;
  s.memory.raise_floor(event.communicator, event.epoch);
  const auto before = s.counters.stale_operation_dropped;
  end_all(
      step,
      [&](const transfer_id& id) {
        return id.communicator == event.communicator && id.epoch < event.epoch;
      },
      step.about_peer(errc::aborted), transfer_closing::release, transfer_closing::silent);
  s.counters.stale_epoch_dropped += s.counters.stale_operation_dropped - before;
  s.counters.stale_operation_dropped = before;
}

void on_cancel(link_step& step, const cancel_body& body) {
  const operation_id operation{body.communicator, body.epoch, body.operation};
  end_all(
      step, [&](const transfer_id& id) { return operation_of(id) == operation; },
      step.about_peer(errc::aborted), transfer_closing::report, transfer_closing::report);
  step.s.memory.note_cancelled(operation, false);
}

void lose(link_step& step, error cause) {
  auto& s = step.s;
  if (s.lost) return;
  s.lost = true;
  s.lost_cause = cause;
  for (std::uint8_t lane = 0; lane < s.lanes.count; ++lane) {
    if (!s.lanes[lane].open) continue;
    s.lanes[lane].open = false;
    step.out.push_back(close_lane{lane});
  }
  auto index = s.transfers.first_live();
  while (index != no_index) {
    const auto next = s.transfers.next_live(index);
    auto& t = s.transfers[index];
    if (t.tell != transfer_notice::release) s.transfers.untell(index);
    if (t.phase == transfer_phase::ended) {
      if (t.list == transfer_list::none) s.transfers.remove(index);
    } else if (t.local) {
      finish(step, index, cause);
    } else {
      drop_early(step, index);
    }
    index = next;
  }
}

pumped pump_endings(link_step& step) {
  auto& s = step.s;
  while (!s.transfers.empty(transfer_list::ending)) {
    if (!step.has_room(2)) return pumped::until_full;
    const auto index = s.transfers.first(transfer_list::ending);
    auto& t = s.transfers[index];
    const bool is_put = t.side == transfer_side::put;
    const auto theirs = t.failed.code == errc::mismatch ? t.signature : operation_signature{};
    const auto how = t.failed.code == errc::ok ? exposure_end::finished : exposure_end::revoked;
    if (!is_put && t.key != 0) step.out.push_back(withdraw_key{t.key, how});
    if (t.closing == transfer_closing::release) {
      step.out.push_back(release_source{t.token});
    } else if (t.closing == transfer_closing::report && !is_put && is_window_put(t.id)) {
      step.out.push_back(report_written{t.id, t.failed});
    } else if (t.closing == transfer_closing::report && is_put) {
      step.out.push_back(report_put{t.token, t.failed, theirs});
    } else if (t.closing == transfer_closing::report) {
      step.out.push_back(report_accept{t.token, t.failed, theirs});
    }
    count_ending(s.counters, t);
    if (t.tell == transfer_notice::release) s.transfers.untell(index);
    s.transfers.move_to(transfer_list::none, index);
    if (t.tell == transfer_notice::none) s.transfers.remove(index);
  }
  while (s.transfers.first_for_owner() != no_index) {
    if (!step.has_room(1)) return pumped::until_full;
    TROUPE_MARK("link: source of a cancelled put released before the peer had all of it");
    const auto index = s.transfers.first_for_owner();
    s.transfers.untell(index);
    s.transfers[index].closing = transfer_closing::silent;
    step.out.push_back(release_source{s.transfers[index].token});
  }
  return pumped::all;
}

pumped pump_unmatched(link_step& step) {
  auto& s = step.s;
  while (!s.transfers.empty(transfer_list::unreported)) {
    const auto index = s.transfers.first(transfer_list::unreported);
    const auto& t = s.transfers[index];
    if (t.since >= s.report_unmatched_before) break;
    if (!step.has_room(1)) return pumped::until_full;
    step.out.push_back(report_unmatched{t.id, t.signature});
    s.transfers.move_to(transfer_list::none, index);
  }
  return pumped::all;
}

void pump_loss(link_step& step) {
  auto& s = step.s;
  if (!s.lost || s.lost_reported || !step.has_room(2)) return;
  if (s.budget.granted > 0) step.out.push_back(return_budget{s.budget.granted});
  s.budget = {};
  step.out.push_back(report_lost{s.lost_cause});
  s.lost_reported = true;
}

}  // namespace troupe::net::detail
