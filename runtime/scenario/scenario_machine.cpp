#include "runtime/scenario/scenario_machine.hpp"

#include <algorithm>
#include <utility>

namespace troupe::scenario {
namespace {

using due_kind = conduct_state::due_action::kind;

const fault& fault_of(const conduct_state& state, std::uint32_t strike) {
  return state.of->faults[state.plan.strikes[strike].fault];
}

bool is_over(const rank_record& each) {
  return each.outcome.has_value();
}

void end_rank(conduct_state& state, std::uint32_t r, const rank_outcome& how, instant now) {
  rank_record& record = state.record.ranks[r];
  if (is_over(record)) return;
  record.outcome = how;
  record.ended = now;
}

// -- strikes --------------------------------------------------------------------------------------

void do_now(conduct_state& state, std::uint32_t strike, instant now,
            std::vector<conduct_effect>& out) {
  const fault& what = fault_of(state, strike);
  strike_record& record = state.record.strikes[strike];
  record.struck = now;
  if (what.lasts)
    state.due.emplace(saturating_add(now, *what.lasts),
                      conduct_state::due_action{due_kind::lift, strike});
  // Delays of steps are this machine's own; everything else is the world's.
  if (what.kind != fault_kind::slow) out.push_back(do_strike{strike});
  if (what.kind != fault_kind::kill && what.kind != fault_kind::power_off) return;
  for (const std::uint32_t r : state.plan.strikes[strike].targets) {
    state.record.ranks[r].killed = true;
    end_rank(state, r, {rank_outcome::kind::killed, errc::ok}, now);
  }
}

/// Its moment came: it strikes now, or `after` later.
void trigger_strike(conduct_state& state, std::uint32_t strike, instant now,
                    std::vector<conduct_effect>& out) {
  if (state.triggered[strike]) return;
  state.triggered[strike] = true;
  const duration after = state.plan.strikes[strike].when.after;
  if (after == duration::zero()) return do_now(state, strike, now, out);
  state.due.emplace(saturating_add(now, after),
                    conduct_state::due_action{due_kind::strike, strike});
}

template <class Wanted>
void trigger_where(conduct_state& state, instant now, std::vector<conduct_effect>& out,
                   Wanted wanted) {
  for (std::uint32_t i = 0; i < state.plan.strikes.size(); ++i)
    if (!state.triggered[i] && wanted(state.plan.strikes[i])) trigger_strike(state, i, now, out);
}

void trigger_events(conduct_state& state, std::uint32_t r, event_kind event, std::uint64_t count,
                    instant now, std::vector<conduct_effect>& out) {
  trigger_where(state, now, out, [&](const strike& each) {
    return each.when.what == trigger_kind::event && each.when.event == event && each.watched == r &&
           each.when.nth == count;
  });
}

/// How much later the rank's steps begin now.
duration slowness(const conduct_state& state, std::uint32_t r) {
  duration sum{};
  for (std::uint32_t i = 0; i < state.plan.strikes.size(); ++i) {
    const fault& what = fault_of(state, i);
    const strike_record& record = state.record.strikes[i];
    if (what.kind != fault_kind::slow || !record.struck || record.lifted) continue;
    const auto& targets = state.plan.strikes[i].targets;
    if (std::find(targets.begin(), targets.end(), r) != targets.end()) sum += what.by;
  }
  return sum;
}

// -- steps ----------------------------------------------------------------------------------------

void begin(conduct_state& state, std::uint32_t r, instant now, std::vector<conduct_effect>& out) {
  auto& progress = state.progress[r];
  rank_record& record = state.record.ranks[r];
  if (is_over(record) || progress.begun) return;
  progress.begun = true;
  trigger_where(state, now, out, [&](const strike& each) {
    return each.when.what == trigger_kind::step && each.watched == r &&
           each.when.step == progress.step;
  });
  for (std::uint32_t i = 0; i < state.plan.strikes.size(); ++i) {
    const strike& each = state.plan.strikes[i];
    if (each.watched != r || state.triggered[i]) continue;
    const bool phase = each.when.what == trigger_kind::phase && each.when.step == progress.step &&
                       each.when.phase != phase_kind::join;
    const bool segment = each.when.what == trigger_kind::event && progress.step == 1 &&
                         each.when.event == event_kind::segment_sent;
    if (phase || segment) out.push_back(watch_for{i});
  }
  if (is_over(record)) return;  // what struck just now ended it
  record.step_begins.push_back(now);
  out.push_back(begin_step{r, progress.step});
}

void plan_begin(conduct_state& state, std::uint32_t r, instant now,
                std::vector<conduct_effect>& out) {
  duration wait = slowness(state, r);
  if (state.progress[r].step > 1) wait += state.of->work.compute;
  if (wait == duration::zero()) return begin(state, r, now, out);
  state.due.emplace(saturating_add(now, wait), conduct_state::due_action{due_kind::begin, r});
}

/// Once every rank has joined, or will not, those that wait begin.
void begin_work_if_all_are_there(conduct_state& state, instant now,
                                 std::vector<conduct_effect>& out) {
  if (state.record.work_began) return;
  for (const rank_record& each : state.record.ranks)
    if (!each.joined && !is_over(each)) return;
  state.record.work_began = now;
  for (std::uint32_t i = 0; i < state.plan.strikes.size(); ++i) {
    const trigger& when = state.plan.strikes[i].when;
    if (when.what == trigger_kind::time)
      state.due.emplace(saturating_add(now, when.at),
                        conduct_state::due_action{due_kind::strike, i});
  }
  for (std::uint32_t r = 0; r < state.progress.size(); ++r)
    if (state.progress[r].step == 1) plan_begin(state, r, now, out);
}

// -- handlers -------------------------------------------------------------------------------------

void on(conduct_state& state, const run_started&, instant now, std::vector<conduct_effect>& out) {
  state.began = now;
  state.limit = saturating_add(now, state.of->limit);
  trigger_where(state, now, out, [](const strike& each) {
    return each.when.what == trigger_kind::phase && each.when.phase == phase_kind::join;
  });
  begin_work_if_all_are_there(state, now, out);
}

void on(conduct_state& state, const rank_joined& event, instant now,
        std::vector<conduct_effect>& out) {
  state.record.ranks[event.rank].joined = true;
  begin_work_if_all_are_there(state, now, out);
}

void on(conduct_state& state, const join_failed& event, instant now,
        std::vector<conduct_effect>& out) {
  rank_record& record = state.record.ranks[event.rank];
  if (is_over(record)) return;
  record.why = event.why;
  end_rank(state, event.rank, {rank_outcome::kind::failed, event.why.code()}, now);
  begin_work_if_all_are_there(state, now, out);
}

void on(conduct_state& state, const step_reached& event, instant now,
        std::vector<conduct_effect>& out) {
  rank_record& record = state.record.ranks[event.rank];
  auto& progress = state.progress[event.rank];
  if (is_over(record)) return;
  if (progress.begun) {
    ++record.steps_done;
    record.step_times.push_back(now - record.step_begins.back());
  }
  progress.step = event.step;
  progress.begun = false;
  if (event.step > state.of->work.steps) {
    progress.idle = true;
    return end_rank(state, event.rank, {rank_outcome::kind::failed, errc::ok}, now);
  }
  if (state.record.work_began) plan_begin(state, event.rank, now, out);
}

void on(conduct_state& state, const call_made& event, instant now,
        std::vector<conduct_effect>& out) {
  const auto count = ++state.progress[event.rank].started;
  trigger_events(state, event.rank, event_kind::operation_started, count, now, out);
}

void on(conduct_state& state, const call_ended& event, instant now,
        std::vector<conduct_effect>& out) {
  rank_record& record = state.record.ranks[event.rank];
  if (is_over(record)) return;
  const auto count = ++state.progress[event.rank].finished;
  if (event.why.code() == errc::ok) {
    record.wrong_elements += event.wrong_elements;
  } else {
    record.why = event.why;
    record.operation = static_cast<std::uint32_t>(count);
    end_rank(state, event.rank, {rank_outcome::kind::failed, event.why.code()}, now);
  }
  trigger_events(state, event.rank, event_kind::operation_ended, count, now, out);
}

void on(conduct_state& state, const process_ended& event, instant now,
        std::vector<conduct_effect>& out) {
  rank_record& record = state.record.ranks[event.rank];
  if (record.killed) return;
  record.crash = event.how;
  record.why = failure(errc::internal_failure, "the process ended: " + event.how);
  record.outcome = rank_outcome{rank_outcome::kind::failed, errc::internal_failure};
  record.ended = std::min(record.ended, now);
  begin_work_if_all_are_there(state, now, out);
}

void on(conduct_state& state, const watched_happened& event, instant now,
        std::vector<conduct_effect>& out) {
  trigger_strike(state, event.strike, now, out);
}

void on(conduct_state& state, const strike_refused& event, instant, std::vector<conduct_effect>&) {
  state.record.strikes[event.strike].refused = event.why;
}

void on(conduct_state& state, const time_passed&, instant now, std::vector<conduct_effect>& out) {
  while (!state.due.empty() && state.due.begin()->first <= now) {
    const auto action = state.due.begin()->second;
    state.due.erase(state.due.begin());
    switch (action.what) {
      case due_kind::begin: begin(state, action.subject, now, out); break;
      case due_kind::strike: do_now(state, action.subject, now, out); break;
      case due_kind::lift:
        state.record.strikes[action.subject].lifted = now;
        if (fault_of(state, action.subject).kind != fault_kind::slow)
          out.push_back(lift_strike{action.subject});
        break;
    }
  }
  begin_work_if_all_are_there(state, now, out);
}

/// Ranks that a fault stopped for good end nothing by themselves.
bool is_stopped(const conduct_state& state, std::uint32_t r) {
  for (std::uint32_t i = 0; i < state.plan.strikes.size(); ++i) {
    const fault& what = fault_of(state, i);
    if (what.kind != fault_kind::stop || what.lasts || !state.record.strikes[i].struck) continue;
    const auto& targets = state.plan.strikes[i].targets;
    if (std::find(targets.begin(), targets.end(), r) != targets.end()) return true;
  }
  return false;
}

void end_if_over(conduct_state& state, instant now, std::vector<conduct_effect>& out) {
  state.record.out_of_time = now >= state.limit;
  for (std::uint32_t r = 0; r < state.record.ranks.size(); ++r)
    if (!is_over(state.record.ranks[r]) && !is_stopped(state, r) && !state.record.out_of_time)
      return;
  for (std::uint32_t r = 0; r < state.record.ranks.size(); ++r)
    if (is_stopped(state, r)) end_rank(state, r, {rank_outcome::kind::stopped, errc::ok}, now);
  state.over = true;
  state.record.ended = now;
  out.push_back(end_run{});
}

}  // namespace

conduct_state make_conduct_state(const script& of, std::uint64_t seed) {
  conduct_state state;
  state.of = &of;
  state.plan = make_fault_plan(of, seed);
  state.record.ranks.resize(of.machines.ranks);
  state.record.strikes.resize(state.plan.strikes.size());
  state.progress.resize(of.machines.ranks);
  state.triggered.resize(state.plan.strikes.size(), false);
  return state;
}

void step(conduct_state& state, const conduct_event& event, instant now,
          std::vector<conduct_effect>& out) {
  if (state.over) return;
  std::visit([&](const auto& each) { on(state, each, now, out); }, event);
  end_if_over(state, now, out);
}

instant next_deadline(const conduct_state& state) {
  if (state.over) return never;
  return state.due.empty() ? state.limit : std::min(state.limit, state.due.begin()->first);
}

}  // namespace troupe::scenario
