#include <algorithm>
#include <array>

#include "tests/sim/actors/epoch_world.hpp"

namespace troupe::sim {

using namespace troupe::actors;

namespace {

// FNV-1a over 64-bit words, with a shuffle so that short states spread, too.
class hasher {
 public:
  void add(std::uint64_t word) {
    value_ = (value_ ^ word) * 0x9e37'79b9'7f4a'7c15ull;
    value_ ^= value_ >> 29;
  }
  void add(const std::vector<float>& list) {
    add(list.size());
    for (const float one : list)
      add(static_cast<std::uint64_t>(one));
  }
  void add(const net::member_list& list) {
    add(list.size());
    for (const auto one : list)
      add(one.value);
  }
  void add(const net::ballot& b) { add(std::uint64_t{b.round} << 32 | b.leader.value); }
  void add(const net::operation_progress& p) {
    add(p.completed_through << 16 | static_cast<std::uint64_t>(p.failed));
    add(p.called_through);
  }
  void add(const std::optional<net::epoch_record>& record) {
    add(record ? 1 : 0);
    if (record) add(*record);
  }
  void add(const net::epoch_record& r) {
    add(r.number.value);
    for (const auto* list : {&r.members, &r.guests, &r.unproven, &r.doubted})
      add(*list);
    add(r.admitted.size());
    add(r.next_member.value);
    add(r.decided);
  }
  void add(const collectives::transfer_window& w) {
    add(w.posted << 32 | w.finished);
    add(w.early);
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf2'9ce4'8422'2325ull;
};

void add(hasher& h, const net::membership_frame& f) {
  h.add(std::uint64_t{f.epoch.value} << 32 | f.sender.value);
  h.add(f.in);
  h.add(f.body.index());
  if (const auto* report = std::get_if<net::report_frame>(&f.body)) {
    h.add(report->progress);
    h.add(report->accepted_in);
    h.add(report->accepted);
    h.add(report->entered ? 1 : 0);
  }
  if (const auto* propose = std::get_if<net::propose_frame>(&f.body)) h.add(propose->next);
  if (const auto* commit = std::get_if<net::commit_frame>(&f.body)) h.add(commit->next);
  if (const auto* alarm = std::get_if<net::alarm_frame>(&f.body)) {
    for (const auto& one : alarm->accusations)
      h.add(std::uint64_t{one.accused.value} << 32 | one.by.value);
    h.add(alarm->dead);
    h.add(alarm->tokens.size() << 1 | (alarm->decision_wanted ? 1 : 0));
  }
}

void add(hasher& h, const net::membership_state& s) {
  h.add(static_cast<std::uint64_t>(s.phase) << 32 | s.self.value);
  h.add(s.current);
  h.add(s.entered_in);
  for (const auto& one : s.accusations)
    h.add(std::uint64_t{one.accused.value} << 32 | one.by.value);
  h.add(s.dead);
  h.add(s.tokens.size() << 8 | s.issued.size() << 4 | (s.decision_wanted ? 2 : 0) |
        (s.at_boundary ? 1 : 0));
  h.add(s.promised);
  h.add(s.highest_round);
  h.add(s.accepted_in);
  h.add(s.accepted);
  h.add(s.progress);
  for (const auto& timer : s.timers)
    h.add(timer.armed ? 1 : 0);
  h.add(s.leading ? 1 : 0);
  if (!s.leading) return;
  for (const auto& [from, report] : s.leading->reports) {
    h.add(from.value);
    h.add(report.progress);
    h.add(report.accepted_in);
  }
  h.add(s.leading->proposal);
  h.add(s.leading->accepted_by);
  h.add(s.leading->out_of_patience ? 1 : 0);
}

void add(hasher& h, const epoch_state& s) {
  add(h, s.membership);
  h.add(static_cast<std::uint64_t>(s.now) << 32 | (s.again ? 2u : 0u) | (s.complete ? 1u : 0u));
  h.add(static_cast<std::uint64_t>(s.failed) << 32 | static_cast<std::uint64_t>(s.over));
  h.add(s.resolved_through);
  h.add(s.called_through << 32 | s.calls.size() << 16 | s.missed.size());
}

void add(hasher& h, const collectives::collective_state& part) {
  h.add(static_cast<std::uint64_t>(part.phase));
  const auto* ftar = std::get_if<collectives::ftar_state>(&part.part);
  if (ftar == nullptr) return;
  h.add(static_cast<std::uint64_t>(ftar->phase));
  for (const auto* window : {&ftar->ring.puts, &ftar->ring.accepts, &ftar->ring.arrivals,
                             &ftar->confirmation.puts, &ftar->confirmation.accepts})
    h.add(*window);
}

}  // namespace

std::uint64_t epoch_world::hash() const {
  hasher h;
  for (const auto& m : ranks_) {
    add(h, m.state);
    h.add((m.alive ? 1u : 0u) | (m.paused ? 2u : 0u) | (m.live ? 4u : 0u) |
          (m.stop_asked ? 8u : 0u) | (m.restore_asked ? 16u : 0u) | (m.saved ? 32u : 0u));
    h.add(m.proofs);
    for (const auto fires : m.fires)
      h.add(fires);
    h.add(m.joins);
    for (const auto& one : m.outcomes)
      h.add(one.number << 32 | static_cast<std::uint64_t>(one.code) << 16 | one.decided_in.value);
    if (!m.live) continue;
    h.add(m.number << 32 | m.in.value);
    add(h, m.part);
    h.add(m.output);
  }
  std::uint64_t transfers = 0;  // in any order
  for (const auto& t : transfers_) {
    hasher one;
    one.add(std::uint64_t{t.in.value} << 32 | t.number);
    one.add(std::uint64_t{t.from} << 32 | t.to);
    one.add(std::uint64_t{t.step} << 2 | (t.has_put ? 2u : 0u) | (t.has_accept ? 1u : 0u));
    transfers += one.value();
  }
  h.add(transfers);
  for (const auto& [wire, frames] : wires_) {
    if (frames.empty()) continue;
    h.add(wire);
    for (const auto& frame : frames)
      add(h, frame);
  }
  h.add(parted_);
  return h.value();
}

void epoch_world::violate(std::uint32_t rank, const std::string& what) {
  if (violation_.empty()) violation_ = "rank " + std::to_string(rank) + ": " + what;
}

/// No two live epochs of one number have different members. A guest of an epoch that nobody else
/// lives in decides nothing there.
void epoch_world::check_epoch(std::uint32_t rank) {
  const auto& mine = ranks_[rank].state.membership;
  for (std::uint32_t i = 0; i < ranks_.size(); ++i) {
    const auto& theirs = ranks_[i].state.membership;
    if (i == rank || !ranks_[i].alive || !is_member(i)) continue;
    if (theirs.current.number != mine.current.number) continue;
    if (contains(theirs.current.guests, theirs.self) || contains(mine.current.guests, mine.self))
      continue;
    if (!(theirs.current.members == mine.current.members))
      violate(rank, "two live epochs " + std::to_string(mine.current.number.value) +
                        " with different members");
    if (!(theirs.current.decided == mine.current.decided))
      violate(rank, "two members of an epoch were told different outcomes");
  }
}

void epoch_world::check_outcome(std::uint32_t rank, const call_outcome& outcome) {
  const bool left = outcome.code == errc::evicted || outcome.code == errc::no_quorum;
  const std::string name = "operation " + std::to_string(outcome.number);
  if (outcome.code != errc::ok) {
    for (std::size_t i = 0; i < outcome.result.size(); ++i)
      if (outcome.result[i] != input_of(ranks_[rank].state.membership.self, outcome.number, i))
        return violate(rank, name + " failed and its input is not intact");
    if (left && !is_over(rank)) return violate(rank, name + " ended as if this rank were out");
  } else {
    for (std::size_t i = 0; i < outcome.result.size(); ++i) {
      float sum = 0;
      for (const auto id : outcome.contributors)
        sum += input_of(id, outcome.number, i);
      if (options_.average) sum /= static_cast<float>(outcome.contributors.size());
      if (outcome.result[i] != sum) return violate(rank, name + " has a wrong result");
    }
  }
  if (left) return;
  for (std::uint32_t i = 0; i < ranks_.size(); ++i)
    for (const auto& other : ranks_[i].outcomes) {
      if (other.number != outcome.number) continue;
      if (i == rank) return violate(rank, name + " ended twice");
      if (other.code == errc::evicted || other.code == errc::no_quorum) continue;
      if (other.code != outcome.code || other.decided_in != outcome.decided_in ||
          other.contributors != outcome.contributors ||
          (outcome.code == errc::ok && other.result != outcome.result))
        violate(rank, name + " ended otherwise than at rank " + std::to_string(i));
    }
}

/// A member gives up only if those whom it can reach are no quorum, or do not need it.
void epoch_world::check_give_up(std::uint32_t rank) {
  const auto& mine = ranks_[rank].state.membership;
  net::member_list reached{mine.self};
  for (const auto id : mine.current.members) {
    const auto other = place_of(id);
    if (other == rank || !is_up(other) || !connected(rank, other) || !is_member(other)) continue;
    const auto& theirs = ranks_[other].state.membership.current;
    if (theirs.number < mine.current.number) continue;
    if (theirs.number == mine.current.number && !(theirs.members == mine.current.members)) continue;
    net::insert(reached, id);
  }
  const bool guest = contains(mine.current.guests, mine.self);
  if (!guest && is_quorum(mine, reached)) violate(rank, "gave up though a quorum was there");
}

void epoch_world::check_end() {
  net::epoch_record newest;
  for (std::uint32_t i = 0; i < ranks_.size(); ++i) {
    const auto& m = ranks_[i];
    if (!m.alive || m.paused || !m.joined || is_over(i)) continue;
    if (newest.number <= m.state.membership.current.number) newest = m.state.membership.current;
  }
  for (std::uint32_t i = 0; i < ranks_.size(); ++i) {
    const auto& m = ranks_[i];
    if (!m.alive || m.paused || !m.joined) continue;
    if (!m.state.calls.empty()) return violate(i, "an operation never ended");
    if (is_over(i)) continue;
    if (m.state.called_through < options_.operation_count)
      return violate(i, "a member stands still");
    if (m.state.membership.phase != net::membership_phase::open)
      return violate(i, "a view change never ended");
    // A member that was left out while it had nothing to do, and whose word of it got lost, is
    // still in an epoch that the others were in, and hears of it with the first thing that it says.
    const auto& mine = m.state.membership;
    const bool is_behind =
        mine.current.number < newest.number && !contains(newest.members, mine.self) &&
        std::any_of(newest.members.begin(), newest.members.end(),
                    [&](net::member_id one) { return contains(mine.current.members, one); });
    if (!is_behind && !(newest == mine.current))
      return violate(i, "members are in different epochs at the end");
  }
}

const char* to_string(planted_bug bug) {
  constexpr std::array<const char*, planted_bug_count> names{"none",
                                                             "silence is proof",
                                                             "commit without accept",
                                                             "fence skipped",
                                                             "stale timer obeyed",
                                                             "contributor not counted",
                                                             "confirmation skipped",
                                                             "proposal not adopted",
                                                             "progress overstated",
                                                             "input not saved",
                                                             "guest votes"};
  return names[static_cast<std::size_t>(bug)];
}

const char* to_string(fault_phase phase) {
  constexpr std::array<const char*, fault_phase_count> names{
      "idle", "saving", "reducing", "gathering", "confirming", "closing", "deciding", "restoring"};
  return names[static_cast<std::size_t>(phase)];
}

const char* to_string(action_kind kind) {
  constexpr std::array<const char*, action_kind_count> names{
      "call",        "land",           "deliver",    "suspect", "prove",  "fire", "time_out",
      "answer_stop", "answer_restore", "crash",      "pause",   "resume", "part", "heal",
      "lose",        "fail",           "fire_stale", "forge",   "join"};
  return names[static_cast<std::size_t>(kind)];
}

std::string describe(const action& what) {
  std::string out = std::string(to_string(what.kind)) + " " + std::to_string(what.rank);
  if (what.other != 0) out += " " + std::to_string(what.other);
  if (what.mask != 0) out += " mask " + std::to_string(what.mask);
  return out;
}

}  // namespace troupe::sim
