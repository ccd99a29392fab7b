#include "actors/rank/epoch_machine.hpp"

#include <algorithm>
#include <deque>
#include <type_traits>
#include <utility>

#include "runtime/assert.hpp"
#include "runtime/mark.hpp"

namespace troupe::actors {

namespace {

using activity = epoch_state::activity;

/// One event at work.
struct epoch_step {
  epoch_state& s;
  instant now;
  epoch_effects& out;
  std::deque<net::membership_event> told = {};
  bool telling = false;

  void tell(net::membership_event event);
  void apply(const net::membership_effect& effect);
};

bool may_start(const epoch_state& s) {
  return s.now == activity::idle && !s.calls.empty() && s.over == errc::ok &&
         s.membership.phase == net::membership_phase::open;
}

bool is_first(const epoch_state& s, std::uint32_t slot) {
  return !s.calls.empty() && s.calls.front().slot == slot;
}

/// Takes the first call out; nothing of it runs any more.
void resolve_first(epoch_state& s) {
  s.resolved_through = std::max(s.resolved_through, s.calls.front().number.value);
  s.calls.pop_front();
  s.now = activity::idle;
  s.again = s.complete = false;
  s.failed = errc::ok;
}

void finish_first(epoch_step& step, troupe::epoch epoch, const net::member_list& who) {
  const auto first = step.s.calls.front();
  resolve_first(step.s);
  step.out.push_back(finish_promised{first.slot, first.number, epoch, who});
}

void restore_first(epoch_step& step, errc why) {
  auto& s = step.s;
  s.now = activity::restoring;
  s.failed = why;
  // Its outcome is known from here on, whatever is reported meanwhile.
  s.resolved_through = std::max(s.resolved_through, s.calls.front().number.value);
  step.out.push_back(restore_promised{s.calls.front().slot});
}

void fail_first(epoch_step& step, errc why) {
  const auto first = step.s.calls.front();
  resolve_first(step.s);
  step.out.push_back(fail_promised{first.slot, first.number, why});
}

/// Ends the first call, whose input was written to if it ran in an earlier epoch.
void end_first(epoch_step& step, errc why) {
  if (step.s.again) {
    TROUPE_MARK("epoch: an operation ends between two attempts");
    restore_first(step, why);
  } else {
    fail_first(step, why);
  }
}

/// Why the first call cannot run at all; ok if it can.
errc verdict_on_first(epoch_state& s) {
  if (s.over != errc::ok) return s.over;
  if (s.missed.empty() || s.missed.front().number != s.calls.front().number.value) return errc::ok;
  TROUPE_MARK("epoch: call of an operation that had failed");
  const auto why = s.missed.front().why;
  s.missed.erase(s.missed.begin());
  return why;
}

/// Ends calls that cannot run, or starts what is next.
void go_on(epoch_step& step) {
  auto& s = step.s;
  if (step.telling) return;
  while (s.now == activity::idle && !s.calls.empty()) {
    const auto why = verdict_on_first(s);
    if (why == errc::ok) break;
    end_first(step, why);
  }
  if (!may_start(s)) return;
  s.now = activity::running;
  step.tell(net::boundary_passed{false});
  step.out.push_back(start_promised{s.calls.front().slot, s.calls.front().number, s.again});
}

void report_closed(epoch_step& step) {
  const auto& s = step.s;
  const bool stopped = s.now == activity::stopped;
  net::operation_progress progress{.completed_through = s.resolved_through,
                                   .called_through = s.called_through};
  if (stopped && s.complete) ++progress.completed_through;
  if (stopped && !s.complete) progress.failed = s.failed;
  step.tell(net::epoch_closed{progress});
}

/// Once everything of the closing epoch stands still.
void report_if_closed(epoch_step& step) {
  if (step.s.now != activity::stopping && !step.s.stopping_others) report_closed(step);
}

void close_here(epoch_step& step) {
  auto& s = step.s;
  if (s.now == activity::running) {
    s.now = activity::stopping;
    step.out.push_back(stop_promised{s.calls.front().slot});
  }
  if (s.has_others) {
    s.stopping_others = true;
    step.out.push_back(stop_others{});
  }
  report_if_closed(step);
}

/// What became, in the epoch before, of the operation that is under way here.
void settle(epoch_step& step, const net::epoch_record& next, const net::epoch_record& before) {
  auto& s = step.s;
  const auto& decided = next.decided;
  if (s.now == activity::stopped && s.resolved_through < decided.completed_through) {
    TROUPE_MARK("epoch: a result stands by decision");
    TROUPE_ASSERT(s.complete);
    finish_first(step, before.number, before.members);
    step.tell(net::boundary_passed{true});
  }
  const bool next_failed =
      decided.failed != errc::ok && s.resolved_through == decided.completed_through;
  if (next_failed && s.now == activity::stopped) {
    restore_first(step, decided.failed);
  } else if (next_failed) {
    // Everybody else's call of it failed; ours is still to come, and so is its failure.
    s.missed.push_back({++s.resolved_through, decided.failed});
  } else if (s.now == activity::stopped) {
    TROUPE_MARK("epoch: an operation is done again");
    s.now = activity::idle;
    s.again = true;
    s.complete = false;
    s.failed = errc::ok;
  }
}

void enter(epoch_step& step, const net::epoch_record& next, const net::epoch_record& before) {
  auto& s = step.s;
  const bool joined = before.members.empty();
  if (joined) {
    s.resolved_through = next.decided.completed_through + (next.decided.failed != errc::ok ? 1 : 0);
    s.called_through = s.resolved_through;
    for (auto& call : s.calls)
      call.number.value = ++s.called_through;
  } else {
    settle(step, next, before);
  }
}

void leave(epoch_step& step, errc why) {
  auto& s = step.s;
  s.over = why;
  if (s.now == activity::running) {
    s.now = activity::stopping;
    step.out.push_back(stop_promised{s.calls.front().slot});
  } else if (s.now == activity::stopped) {
    restore_first(step, why);
  }
  go_on(step);
}

/// Runs the view change, whose effects on operations are done here and whose others go out. What
/// is told meanwhile comes after it, so that effects go out in the order of their causes.
void epoch_step::tell(net::membership_event event) {
  told.push_back(std::move(event));
  if (telling) return;
  telling = true;
  while (!told.empty()) {
    const auto first = std::move(told.front());
    told.pop_front();
    const auto before = s.membership.current;
    net::membership_effects effects;
    net::step(s.membership, first, now, effects);
    for (const auto& effect : effects) {
      const auto* entered = std::get_if<net::enter_epoch>(&effect);
      apply(effect);
      if (entered != nullptr) enter(*this, entered->record, before);
    }
  }
  telling = false;
  go_on(*this);
}

void epoch_step::apply(const net::membership_effect& effect) {
  std::visit(
      [&](const auto& e) {
        using type = std::decay_t<decltype(e)>;
        if constexpr (std::is_same_v<type, net::close_epoch>) {
          close_here(*this);
        } else {
          out.push_back(e);
          if constexpr (std::is_same_v<type, net::leave_communicator>) leave(*this, e.why);
        }
      },
      effect);
}

// -- events ---------------------------------------------------------------------------------------

void on(epoch_step& step, const promised_called& event) {
  auto& s = step.s;
  TROUPE_ASSERT(s.calls.size() < promised_call_count_max);
  s.calls.push_back({event.slot, {++s.called_through}});
  go_on(step);
}

void on(epoch_step& step, const promised_confirmed& event) {
  auto& s = step.s;
  const bool runs = s.now == activity::running || s.now == activity::stopping;
  if (!is_first(s, event.slot) || !runs) {
    ++s.ignored;
    return;
  }
  const bool was_stopping = s.now == activity::stopping;
  if (was_stopping) TROUPE_MARK("epoch: confirmed while being stopped");
  const auto& current = s.membership.current;
  finish_first(step, current.number, current.members);
  if (was_stopping && s.over == errc::ok) report_if_closed(step);
  step.tell(net::boundary_passed{true});
}

void on(epoch_step& step, const promised_stopped& event) {
  auto& s = step.s;
  const bool runs = s.now == activity::running || s.now == activity::stopping;
  if (!is_first(s, event.slot) || !runs) {
    ++s.ignored;
    return;
  }
  const bool was_stopping = s.now == activity::stopping;
  s.now = activity::stopped;
  s.complete = event.complete;
  const bool is_lost = event.why == errc::peer_lost || event.why == errc::aborted;
  s.failed = is_lost ? errc::ok : event.why;
  if (s.over != errc::ok) {
    restore_first(step, s.over);
  } else if (was_stopping) {
    report_if_closed(step);
  } else {
    if (is_lost) step.tell(net::member_suspected{event.peer});
    if (!is_lost || !net::is_suspected(s.membership, event.peer)) step.tell(net::decision_needed{});
  }
}

void on(epoch_step& step, const input_restored& event) {
  auto& s = step.s;
  if (!is_first(s, event.slot) || s.now != activity::restoring) {
    ++s.ignored;
    return;
  }
  fail_first(step, s.failed);
  step.tell(net::boundary_passed{true});
}

void on(epoch_step& step, const others_stopped&) {
  auto& s = step.s;
  if (!s.stopping_others) {
    ++s.ignored;
    return;
  }
  s.stopping_others = false;
  if (s.over == errc::ok) report_if_closed(step);
}

void on(epoch_step& step, const net::membership_event& event) {
  step.tell(event);
}

}  // namespace

void step(epoch_state& state, const epoch_event& event, instant now, epoch_effects& out) {
  epoch_step at_work{state, now, out};
  std::visit([&](const auto& e) { on(at_work, e); }, event);
}

}  // namespace troupe::actors
