#include "net/membership/membership_machine.hpp"

#include <algorithm>

#include "net/membership/detail/membership_step.hpp"
#include "runtime/mark.hpp"

namespace troupe::net {

using namespace detail;

namespace detail {

void membership_step::send_of(troupe::epoch epoch, member_id to, ballot in,
                              membership_body body) const {
  out.emplace_back(send_membership{to,
                                   {.communicator = s.communicator,
                                    .epoch = epoch,
                                    .sender = s.self,
                                    .in = in,
                                    .body = std::move(body)}});
}

void membership_step::send(member_id to, ballot in, membership_body body) const {
  send_of(s.current.number, to, in, std::move(body));
}

void membership_step::spread(const epoch_record& next, ballot in) const {
  for (const auto member : s.current.members)
    if (member != s.self && !contains(s.dead, member))
      send_of(next.number, member, in, commit_frame{next});
}

void membership_step::send_to_all(ballot in, const membership_body& body) const {
  for (const auto member : s.current.members)
    if (member != s.self && !contains(s.dead, member)) send(member, in, body);
}

void membership_step::arm(membership_timer timer, duration delay) const {
  auto& slot = s.timers[static_cast<std::size_t>(timer)];
  slot = {slot.generation + 1, true};
  out.push_back(arm_membership_timer{timer, saturating_add(now, delay), slot.generation});
}

void membership_step::disarm(membership_timer timer) const {
  s.timers[static_cast<std::size_t>(timer)].armed = false;
}

}  // namespace detail

namespace {

bool is_armed(const membership_state& s, membership_timer timer) {
  return s.timers[static_cast<std::size_t>(timer)].armed;
}

bool is_over(const membership_state& s) {
  return s.phase == membership_phase::left || s.phase == membership_phase::joining;
}

/// The epoch cannot go on as it is.
bool is_urgent(const membership_state& s) {
  return s.decision_wanted ||
         std::any_of(s.current.members.begin(), s.current.members.end(), [&](member_id member) {
           return contains(s.dead, member) || (member != s.self && is_suspected(s, member));
         });
}

/// Somebody waits to come in, or to vote: a matter for the end of an operation, and only while
/// nobody can go on without knowing of it.
bool is_asked_for(const membership_state& s) {
  if (s.tokens.empty() && s.current.guests.empty()) return false;
  return std::all_of(s.current.unproven.begin(), s.current.unproven.end(),
                     [&](member_id one) { return contains(s.dead, one); });
}

/// Who leads: the leader of the ballot under way unless it is believed gone.
member_id driver_of(const membership_state& s) {
  if (s.phase == membership_phase::open) return leader_of(s);
  const auto leader = s.promised.leader;
  const bool gone = leader != s.self && (is_accused_here(s, leader) || contains(s.dead, leader));
  return gone ? leader_of(s) : leader;
}

/// Members take over one after the other, the first ones first.
duration succession_of(const membership_state& s) {
  const auto at = std::lower_bound(s.current.members.begin(), s.current.members.end(), s.self);
  const auto place = std::min<std::ptrdiff_t>(at - s.current.members.begin(), 8);
  return s.options.succession + place * s.options.patience;
}

void raise_alarm(const membership_step& step, member_id to) {
  const auto& s = step.s;
  step.send(to, s.promised,
            alarm_frame{.accusations = s.accusations,
                        .dead = s.dead,
                        .tokens = s.tokens,
                        .decision_wanted = s.decision_wanted});
}

/// Does what the reasons for a view change ask for: leads, goes on, or tells who should.
void consider(const membership_step& step) {
  auto& s = step.s;
  if (is_over(s)) return;
  const bool urgent = is_urgent(s);
  if (s.phase == membership_phase::open && !urgent && !is_asked_for(s)) return;
  if (urgent && !is_armed(s, membership_timer::decision))
    step.arm(membership_timer::decision, s.options.decision);
  const auto driver = driver_of(s);
  if (driver != s.self) {
    if (!urgent && s.tokens.empty()) return;
    raise_alarm(step, driver);
    if (urgent && !is_armed(s, membership_timer::succession))
      step.arm(membership_timer::succession, succession_of(s));
    return;
  }
  if (s.leading) {
    go_on(step);
  } else if (urgent || s.phase != membership_phase::open || s.at_boundary) {
    if (s.phase != membership_phase::open) TROUPE_MARK("membership: took over");
    lead(step);
  }
}

report_frame report_of(const membership_state& s) {
  return {.progress = s.progress, .accepted_in = s.accepted_in, .accepted = s.accepted};
}

/// Tells a member that is behind that its epoch is over, in answer to its ballot if it has one.
void tell_news(const membership_step& step, member_id to, const membership_frame& asked) {
  const auto& s = step.s;
  if (asked.in.leader == to && !std::holds_alternative<alarm_frame>(asked.body))
    step.send_of(asked.epoch, to, asked.in,
                 report_frame{.accepted_in = s.entered_in, .accepted = s.current, .entered = true});
  else
    step.send_of(s.current.number, to, s.entered_in, commit_frame{s.current});
}

// -- frames of the current epoch ------------------------------------------------------------------

void on(const membership_step& step, member_id from, ballot in, const prepare_frame&) {
  auto& s = step.s;
  s.highest_round = std::max(s.highest_round, in.round);
  if (in.leader != from) {
    ++s.counters.foreign_frames;
    return;
  }
  if (in < s.promised) {
    TROUPE_MARK("membership: superseded prepare");
    ++s.counters.stale_frames;
    raise_alarm(step, from);
    return;
  }
  step.promise(in);
  if (s.phase == membership_phase::deciding) step.send(from, in, report_of(s));
}

void on(const membership_step& step, member_id from, ballot in, const propose_frame& frame) {
  auto& s = step.s;
  s.highest_round = std::max(s.highest_round, in.round);
  if (in.leader != from || frame.next.number.value != s.current.number.value + 1) {
    ++s.counters.foreign_frames;
    return;
  }
  if (in < s.promised) {
    TROUPE_MARK("membership: superseded proposal");
    ++s.counters.stale_frames;
    raise_alarm(step, from);
    return;
  }
  step.promise(in);
  if (s.phase != membership_phase::deciding) return;  // asked again once the epoch is closed
  s.accepted_in = in;
  s.accepted = frame.next;
  step.send(from, in, accept_frame{});
}

bool answers_this_ballot(const membership_step& step, ballot in) {
  const bool mine = step.s.leading && in == step.s.promised;
  step.s.counters.stale_frames += mine ? 0 : 1;
  return mine;
}

void on(const membership_step& step, member_id from, ballot in, const report_frame& frame) {
  if (answers_this_ballot(step, in)) take_report(step, from, frame);
}

void on(const membership_step& step, member_id from, ballot in, const accept_frame&) {
  if (answers_this_ballot(step, in)) take_accept(step, from);
}

void on(const membership_step& step, member_id, ballot in, const alarm_frame& frame) {
  auto& s = step.s;
  s.highest_round = std::max(s.highest_round, in.round);
  // What this member said itself comes back as an echo and may be withdrawn meanwhile.
  for (const auto& one : frame.accusations)
    if (one.by != s.self && contains(s.current.members, one.accused)) insert(s.accusations, one);
  for (const auto member : frame.dead)
    if (member != s.self) insert(s.dead, member);
  for (const auto token : frame.tokens)
    if (s.tokens.size() < membership_token_count_max) insert(s.tokens, token);
  s.decision_wanted = s.decision_wanted || frame.decision_wanted;
  consider(step);
}

void on(const membership_step&, member_id, ballot, const commit_frame&) {}
void on(const membership_step&, member_id, ballot, const left_frame&) {}
void on(const membership_step&, member_id, ballot, const join_frame&) {}

// -- frames of any epoch --------------------------------------------------------------------------

void on_commit(const membership_step& step, const membership_frame& frame) {
  auto& s = step.s;
  const auto& next = std::get<commit_frame>(frame.body).next;
  if (next.number != frame.epoch) {
    ++s.counters.foreign_frames;
    return;
  }
  const bool is_successor = next.number.value == s.current.number.value + 1;
  if (next.number <= s.current.number || (is_successor && frame.in < s.promised)) {
    // A decision of a superseded ballot may be one that nobody alive knows of any more: whoever
    // knows says so in answer to the newer ballot.
    TROUPE_MARK("membership: stale decision");
    ++s.counters.stale_frames;
    return;
  }
  if (is_successor && contains(next.members, s.self) && s.phase != membership_phase::deciding) {
    // Nobody is let into an epoch who has not closed the one before.
    ++s.counters.foreign_frames;
    return;
  }
  step.enter(next, frame.in);
}

void on_commit_outside(const membership_step& step, const membership_frame& frame) {
  auto& s = step.s;
  const auto* commit = std::get_if<commit_frame>(&frame.body);
  const auto* mine = static_cast<const admission*>(nullptr);
  if (commit != nullptr)
    for (const auto& one : commit->next.admitted)
      if (one.token == s.token) mine = &one;
  if (mine == nullptr || !contains(commit->next.members, mine->member)) {
    ++s.counters.foreign_frames;
    return;
  }
  s.self = mine->member;
  step.enter(commit->next, frame.in);
}

void on_left(const membership_step& step, member_id from) {
  auto& s = step.s;
  if (!contains(s.current.members, from) && !contains(s.current.unproven, from)) return;
  if (insert(s.dead, from)) consider(step);
}

void on_join(const membership_step& step, const join_frame& join) {
  auto& s = step.s;
  for (const auto& one : s.current.admitted)
    if (one.token == join.token) {
      step.out.push_back(send_to_joiner{join.token,
                                        {.communicator = s.communicator,
                                         .epoch = s.current.number,
                                         .sender = s.self,
                                         .in = s.entered_in,
                                         .body = commit_frame{s.current}}});
      return;
    }
  const auto waiting = std::find(s.tokens.begin(), s.tokens.end(), join.token);
  if (waiting == s.tokens.end()) {
    if (std::erase(s.issued, join.token) == 0) {
      TROUPE_MARK("membership: unknown token");
      ++s.counters.foreign_frames;
      return;
    }
    insert(s.tokens, join.token);
  }
  consider(step);
}

void on_frame_of_member(const membership_step& step, member_id from,
                        const membership_frame& frame) {
  auto& s = step.s;
  if (std::holds_alternative<commit_frame>(frame.body)) {
    on_commit(step, frame);
  } else if (frame.epoch < s.current.number) {
    TROUPE_MARK("membership: told of a newer epoch");
    ++s.counters.stale_frames;
    const bool asks = std::holds_alternative<prepare_frame>(frame.body) ||
                      std::holds_alternative<propose_frame>(frame.body) ||
                      std::holds_alternative<alarm_frame>(frame.body);
    if (asks) tell_news(step, from, frame);
  } else if (frame.epoch == s.current.number && contains(s.current.members, from)) {
    std::visit([&](const auto& body) { on(step, from, frame.in, body); }, frame.body);
  } else {
    ++s.counters.foreign_frames;
  }
}

// -- events ---------------------------------------------------------------------------------------

void on_event(const membership_step& step, const membership_frame_received& event) {
  auto& s = step.s;
  const auto& frame = event.frame;
  if (frame.communicator != s.communicator || frame.sender != event.from) {
    ++s.counters.foreign_frames;
    return;
  }
  if (s.phase == membership_phase::joining) {
    on_commit_outside(step, frame);
  } else if (std::holds_alternative<left_frame>(frame.body)) {
    if (s.phase != membership_phase::left) on_left(step, event.from);
  } else if (s.phase == membership_phase::left) {
    if (contains(s.current.members, event.from))
      step.send(event.from, {}, left_frame{s.left_because});
  } else if (const auto* join = std::get_if<join_frame>(&frame.body)) {
    on_join(step, *join);
  } else {
    on_frame_of_member(step, event.from, frame);
  }
}

void on_event(const membership_step& step, const member_suspected& event) {
  auto& s = step.s;
  if (is_over(s) || event.member == s.self || !contains(s.current.members, event.member)) return;
  if (insert(s.accusations, accusation{event.member, s.self})) consider(step);
}

void on_event(const membership_step& step, const member_ended& event) {
  auto& s = step.s;
  if (is_over(s) || event.member == s.self) return;
  if (!contains(s.current.members, event.member) && !contains(s.current.unproven, event.member))
    return;
  if (insert(s.dead, event.member)) consider(step);
}

void on_event(const membership_step& step, const decision_needed&) {
  if (is_over(step.s) || step.s.phase != membership_phase::open) return;
  step.s.decision_wanted = true;
  consider(step);
}

void on_event(const membership_step& step, const reconfigure_wanted& event) {
  auto& s = step.s;
  if (is_over(s)) return;
  for (const auto member : event.without)
    if (member != s.self && contains(s.current.members, member)) insert(s.dead, member);
  s.decision_wanted = true;
  consider(step);
}

void on_event(const membership_step& step, const token_issued& event) {
  auto& s = step.s;
  if (!is_over(s) && s.issued.size() < membership_token_count_max) insert(s.issued, event.token);
}

void on_event(const membership_step& step, const epoch_closed& event) {
  auto& s = step.s;
  if (s.phase != membership_phase::closing) return;
  s.progress = event.progress;
  s.phase = membership_phase::deciding;
  if (s.leading)
    take_report(step, s.self, report_of(s));
  else
    step.send(s.promised.leader, s.promised, report_of(s));
}

void on_event(const membership_step& step, const boundary_passed& event) {
  step.s.at_boundary = event.reached;
  if (event.reached && step.s.phase == membership_phase::open) consider(step);
}

void on_event(const membership_step& step, const join_retried&) {
  auto& s = step.s;
  if (s.phase != membership_phase::joining) return;
  step.out.push_back(send_join{{.communicator = s.communicator, .body = join_frame{s.token}}});
}

void on_event(const membership_step& step, const leave_wanted& event) {
  if (step.s.phase != membership_phase::left) step.leave(event.why);
}

void on_event(const membership_step& step, const membership_timer_fired& event) {
  auto& s = step.s;
  auto& slot = s.timers[static_cast<std::size_t>(event.timer)];
  if (!slot.armed || slot.generation != event.generation || is_over(s)) {
    TROUPE_MARK("membership: stale timer");
    ++s.counters.stale_timers;
    return;
  }
  slot.armed = false;
  switch (event.timer) {
    case membership_timer::patience: ask_again(step); return;
    case membership_timer::succession: {
      const auto driver = driver_of(s);
      if (driver != s.self) {
        TROUPE_MARK("membership: leader did not decide");
        insert(s.accusations, accusation{driver, s.self});
      }
      consider(step);
      return;
    }
    case membership_timer::decision:
      TROUPE_MARK("membership: no quorum");
      step.leave(errc::no_quorum);
      return;
  }
}

}  // namespace

// -- moving between epochs ------------------------------------------------------------------------

namespace detail {

void membership_step::promise(ballot in) const {
  s.promised = in;
  s.highest_round = std::max(s.highest_round, in.round);
  if (in.leader != s.self) {
    // Whoever asks is there.
    std::erase(s.accusations, accusation{in.leader, s.self});
    s.leading.reset();
    disarm(membership_timer::patience);
    arm(membership_timer::succession, succession_of(s));
  }
  if (!is_armed(s, membership_timer::decision)) arm(membership_timer::decision, s.options.decision);
  if (s.phase != membership_phase::open) return;
  s.phase = membership_phase::closing;
  out.push_back(close_epoch{s.current.number});
}

void membership_step::enter(const epoch_record& next, ballot in) const {
  const bool from_outside = s.phase == membership_phase::joining;
  const bool is_next = from_outside || next.number.value == s.current.number.value + 1;
  if (!is_next || !contains(next.members, s.self)) {
    leave(errc::evicted);
    return;
  }
  // What others said of the epoch before is settled. What this member said is, too, unless whoever
  // decided did not hear it.
  std::erase_if(s.accusations, [&](const accusation& one) {
    return one.by != s.self || !contains(next.members, one.accused) ||
           contains(next.doubted, one.accused);
  });
  std::erase_if(s.dead, [&](member_id one) {
    return !contains(next.members, one) && !contains(next.unproven, one);
  });
  s.current = next;
  s.entered_in = in;
  s.phase = membership_phase::open;
  s.promised = s.accepted_in = {};
  s.highest_round = 0;
  s.accepted.reset();
  s.leading.reset();
  s.decision_wanted = false;
  s.progress = {};
  for (const auto timer :
       {membership_timer::patience, membership_timer::succession, membership_timer::decision})
    disarm(timer);
  ++s.counters.view_changes;
  out.push_back(enter_epoch{next});
  for (const auto& one : next.admitted)
    if (std::erase(s.tokens, one.token) != 0)
      out.push_back(send_to_joiner{one.token,
                                   {.communicator = s.communicator,
                                    .epoch = next.number,
                                    .sender = s.self,
                                    .in = in,
                                    .body = commit_frame{next}}});
  consider(*this);
}

void membership_step::leave(errc why) const {
  s.phase = membership_phase::left;
  s.left_because = why;
  s.leading.reset();
  for (const auto timer :
       {membership_timer::patience, membership_timer::succession, membership_timer::decision})
    disarm(timer);
  send_to_all({}, left_frame{why});
  out.push_back(leave_communicator{why});
}

}  // namespace detail

void step(membership_state& state, const membership_event& event, instant now,
          membership_effects& out) {
  const membership_step at_work{state, now, out};
  std::visit([&](const auto& e) { on_event(at_work, e); }, event);
}

}  // namespace troupe::net
