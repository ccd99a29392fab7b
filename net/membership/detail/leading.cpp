#include <algorithm>

#include "net/membership/detail/membership_step.hpp"
#include "runtime/mark.hpp"

namespace troupe::net::detail {

namespace {

const leading_state::answer* answer_of(const leading_state& leading, member_id member) {
  const auto at = std::lower_bound(leading.reports.begin(), leading.reports.end(), member,
                                   [](const auto& one, member_id m) { return one.from < m; });
  return at != leading.reports.end() && at->from == member ? &*at : nullptr;
}

member_list reporters_of(const leading_state& leading) {
  member_list out;
  for (const auto& one : leading.reports)
    out.push_back(one.from);
  return out;
}

/// Everybody who may still answer has. Who is only accused is given the time to.
bool all_answered(const membership_state& s) {
  return std::all_of(s.current.members.begin(), s.current.members.end(), [&](member_id member) {
    return answer_of(*s.leading, member) != nullptr || contains(s.dead, member);
  });
}

/// What of the epoch's operations is decided: where the slowest of `members` stands.
operation_progress decided_by(const membership_state& s, const member_list& members) {
  operation_progress out;
  bool first = true;
  for (const auto& [from, report] : s.leading->reports) {
    if (!contains(members, from)) continue;
    const auto& one = report.progress;
    out.called_through = std::max(out.called_through, one.called_through);
    if (!first && one.completed_through > out.completed_through) continue;
    const bool equal = !first && one.completed_through == out.completed_through;
    out.completed_through = one.completed_through;
    if (!equal || out.failed == errc::ok) out.failed = one.failed;
    first = false;
  }
  return out;
}

/// How many of those who stay accuse `member`.
std::ptrdiff_t accusers_of(const membership_state& s, const member_list& stay, member_id member) {
  return std::count_if(s.accusations.begin(), s.accusations.end(), [&](const accusation& one) {
    return one.accused == member && contains(stay, one.by);
  });
}

/// Members that answered and are accused a second time without anything having been completed in
/// between. Of two that cannot reach each other one stays.
void leave_out_doubted(const membership_state& s, member_list& members) {
  const bool progress =
      decided_by(s, members).completed_through > s.current.decided.completed_through;
  if (progress) return;
  while (true) {
    member_id worst = no_member;
    std::ptrdiff_t most = 0;
    for (const auto member : members) {
      if (!contains(s.current.doubted, member)) continue;
      const auto accusers = accusers_of(s, members, member);
      if (accusers < most || accusers == 0) continue;
      worst = member;
      most = accusers;
    }
    if (most == 0) return;
    TROUPE_MARK("membership: left out a member that answers");
    std::erase(members, worst);
  }
}

/// Whether guests may vote from now on: nobody is left who may have missed their coming.
bool guests_may_vote(const membership_state& s) {
  return std::all_of(s.current.members.begin(), s.current.members.end(), [&](member_id member) {
    return answer_of(*s.leading, member) != nullptr || contains(s.dead, member);
  });
}

/// Voters that are left out without proof: they may go on by themselves one day.
member_list left_without_proof(const membership_state& s, const member_list& stay) {
  member_list out;
  for (const auto& list : {s.current.unproven, s.current.members})
    for (const auto member : list)
      if (!contains(stay, member) && !contains(s.dead, member) &&
          !contains(s.current.guests, member))
        insert(out, member);
  return out;
}

void admit(membership_state& s, epoch_record& next) {
  for (const auto token : s.tokens) {
    const bool too_many = next.next_member.value == no_member.value - 1;
    if (too_many) return;
    const auto member = next.next_member;
    ++next.next_member.value;
    next.members.push_back(member);
    next.processes.push_back(process_of(token));
    next.guests.push_back(member);
    next.admitted.push_back({token, member});
  }
}

epoch_record make_next(membership_state& s) {
  epoch_record next;
  next.number = {s.current.number.value + 1};
  next.next_member = s.current.next_member;
  for (const auto member : reporters_of(*s.leading))
    if (!contains(s.dead, member)) next.members.push_back(member);
  leave_out_doubted(s, next.members);
  next.unproven = left_without_proof(s, next.members);
  if (!next.unproven.empty() && !s.current.guests.empty()) {
    TROUPE_MARK("membership: guests go with a member left out without proof");
    std::erase_if(next.members, [&](member_id one) { return contains(s.current.guests, one); });
    next.unproven = left_without_proof(s, next.members);
  }
  next.decided = decided_by(s, next.members);
  for (const auto member : next.members)
    if (is_suspected(s, member)) next.doubted.push_back(member);
  if (!guests_may_vote(s))
    for (const auto guest : s.current.guests)
      if (contains(next.members, guest)) next.guests.push_back(guest);
  for (const auto member : next.members)
    next.processes.push_back(process_of(s.current, member));
  if (next.unproven.empty()) admit(s, next);
  return next;
}

/// What was accepted in the highest ballot, if anything was: it may be decided already.
const report_frame* adopted(const leading_state& leading) {
  const report_frame* best = nullptr;
  for (const auto& one : leading.reports)
    if (one.report.accepted && (best == nullptr || best->accepted_in < one.report.accepted_in))
      best = &one.report;
  return best;
}

void propose(const membership_step& step) {
  auto& s = step.s;
  const auto* before = adopted(*s.leading);
  if (before != nullptr) TROUPE_MARK("membership: adopted a proposal");
  s.leading->proposal = before != nullptr ? *before->accepted : make_next(s);
  if (s.leading->proposal->members.empty()) {
    // Everybody who answered was given up meanwhile, this member included.
    s.leading->proposal.reset();
    return;
  }
  s.accepted = s.leading->proposal;
  s.accepted_in = s.promised;
  s.leading->accepted_by = {s.self};
  step.send_to_all(s.promised, propose_frame{*s.leading->proposal});
  step.arm(membership_timer::patience, s.options.patience);
}

void commit(const membership_step& step) {
  auto& s = step.s;
  const auto next = *s.leading->proposal;
  const auto in = s.promised;
  step.spread(next, in);
  step.enter(next, in);
}

}  // namespace

void lead(const membership_step& step) {
  auto& s = step.s;
  ++s.counters.ballots_led;
  s.leading.emplace();
  step.disarm(membership_timer::succession);
  step.promise({s.highest_round + 1, s.self});
  step.send_to_all(s.promised, prepare_frame{});
  step.arm(membership_timer::patience, s.options.patience);
  if (s.phase != membership_phase::deciding) return;
  take_report(step, s.self,
              {.progress = s.progress, .accepted_in = s.accepted_in, .accepted = s.accepted});
}

void take_report(const membership_step& step, member_id from, const report_frame& report) {
  auto& s = step.s;
  if (report.entered) {
    TROUPE_MARK("membership: heard of a decision late");
    const auto in = s.promised;
    const auto next = *report.accepted;
    step.spread(next, in);
    step.enter(next, in);
    return;
  }
  auto& reports = s.leading->reports;
  if (s.leading->proposal || answer_of(*s.leading, from) != nullptr) return;
  const auto at = std::lower_bound(reports.begin(), reports.end(), from,
                                   [](const auto& one, member_id m) { return one.from < m; });
  reports.insert(at, {from, report});
  go_on(step);
}

void take_accept(const membership_step& step, member_id from) {
  auto& s = step.s;
  if (!s.leading->proposal) return;
  insert(s.leading->accepted_by, from);
  go_on(step);
}

void go_on(const membership_step& step) {
  auto& s = step.s;
  if (!s.leading || s.phase != membership_phase::deciding) return;
  if (!s.leading->proposal) {
    if (!s.leading->out_of_patience && !all_answered(s)) return;
    if (!is_quorum(s, reporters_of(*s.leading))) return;
    propose(step);
    if (!s.leading->proposal) return;
  }
  if (is_quorum(s, s.leading->accepted_by)) commit(step);
}

void ask_again(const membership_step& step) {
  auto& s = step.s;
  if (!s.leading) return;
  if (s.highest_round > s.promised.round) {
    // Another ballot came in between, and whoever led it was given the time to decide.
    TROUPE_MARK("membership: led again");
    lead(step);
    return;
  }
  for (const auto member : s.current.members) {
    if (member == s.self || contains(s.dead, member)) continue;
    if (!s.leading->proposal && answer_of(*s.leading, member) == nullptr)
      step.send(member, s.promised, prepare_frame{});
    if (s.leading->proposal && !contains(s.leading->accepted_by, member))
      step.send(member, s.promised, propose_frame{*s.leading->proposal});
  }
  s.leading->out_of_patience = true;
  step.arm(membership_timer::patience, s.options.patience);
  go_on(step);
}

}  // namespace troupe::net::detail
