#include "tests/sim/actors/epoch_world.hpp"

#include <algorithm>
#include <cstring>

#include "collectives/ftar/ftar_state.hpp"
#include "runtime/assert.hpp"

namespace troupe::sim {

using namespace troupe::actors;
using net::membership_phase;
using net::membership_timer;

namespace {

constexpr std::uint64_t first_token = 1000;

// How often a timer may fire in one epoch only because nothing else happens. Chosen: three asks of
// a leader, and a turn for the five members behind it.
constexpr std::uint8_t overdue_fires_max = 5;

std::uint64_t wire_of(std::uint32_t from, std::uint32_t to) {
  return std::uint64_t{from} << 32 | to;
}

}  // namespace

epoch_world::epoch_world(const world_options& options) : options_(options) {
  const auto first = net::first_epoch(options.rank_count);
  for (std::uint32_t i = 0; i < options.rank_count; ++i) {
    member m;
    m.state.membership = net::make_member({1}, {i}, first, {});
    m.state.has_others = true;
    ranks_.push_back(std::move(m));
    rank_of_member_.push_back(i);
  }
  for (std::uint32_t j = 0; j < options.joiner_count; ++j) {
    member m;
    m.state.membership = net::make_joiner({1}, first_token + j, {});
    m.state.has_others = true;
    m.joined = false;
    ranks_.push_back(std::move(m));
    post(j % options.rank_count, net::membership_event(net::token_issued{first_token + j}));
  }
  drain();
}

// -- what may happen ------------------------------------------------------------------------------

bool epoch_world::is_over(std::uint32_t rank) const {
  return ranks_[rank].state.membership.phase == membership_phase::left;
}

bool epoch_world::is_member(std::uint32_t rank) const {
  const auto phase = ranks_[rank].state.membership.phase;
  return phase != membership_phase::left && phase != membership_phase::joining;
}

bool epoch_world::runs(std::uint32_t rank) const {
  const auto& m = ranks_[rank];
  return is_up(rank) && m.live && m.state.now == epoch_state::activity::running;
}

bool epoch_world::connected(std::uint32_t a, std::uint32_t b) const {
  return (parted_ >> a & 1u) == (parted_ >> b & 1u);
}

bool epoch_world::may_land(const transfer& one) const {
  return one.has_put && one.has_accept && is_up(one.from) && is_up(one.to) &&
         connected(one.from, one.to);
}

void epoch_world::enabled(std::vector<action>& out) const {
  for (std::uint32_t i = 0; i < ranks_.size(); ++i)
    for (const auto kind :
         {action_kind::call, action_kind::answer_stop, action_kind::answer_restore})
      if (may({kind, i})) out.push_back({kind, i});
  for (std::uint32_t t = 0; t < transfers_.size(); ++t)
    if (may_land(transfers_[t])) out.push_back({action_kind::land, t});
  for (const auto& [wire, frames] : wires_) {
    const action one{action_kind::deliver, static_cast<std::uint32_t>(wire >> 32),
                     static_cast<std::uint32_t>(wire)};
    if (may(one)) out.push_back(one);
  }
}

bool epoch_world::can_hear(std::uint32_t rank, net::member_id id) const {
  const auto other = place_of(id);
  return is_up(other) && connected(rank, other) && !is_over(other);
}

void epoch_world::overdue(std::vector<action>& out) const {
  for (std::uint32_t i = 0; i < ranks_.size() && out.empty(); ++i) {
    if (!is_up(i) || !is_member(i)) continue;
    for (const auto id : ranks_[i].state.membership.current.members) {
      const action one{action_kind::suspect, i, place_of(id)};
      if (!can_hear(i, id) && may(one)) out.push_back(one);
    }
  }
  if (!out.empty()) return;
  for (const auto timer : {membership_timer::patience, membership_timer::succession}) {
    for (std::uint32_t i = 0; i < ranks_.size(); ++i) {
      const action one{action_kind::fire, i, static_cast<std::uint32_t>(timer)};
      const bool tired = ranks_[i].fires[static_cast<std::size_t>(timer)] >= overdue_fires_max;
      if (!tired && may(one)) out.push_back(one);
    }
    if (!out.empty()) return;
  }
  for (std::uint32_t i = 0; i < ranks_.size(); ++i)
    if (ranks_[i].joins < overdue_fires_max && may({action_kind::join, i}))
      out.push_back({action_kind::join, i});
  if (!out.empty()) return;
  for (std::uint32_t i = 0; i < ranks_.size(); ++i)
    if (may({action_kind::time_out, i})) out.push_back({action_kind::time_out, i});
  if (!out.empty()) return;
  for (std::uint32_t i = 0; i < ranks_.size(); ++i) {
    const action one{action_kind::fire, i, static_cast<std::uint32_t>(membership_timer::decision)};
    if (may(one)) out.push_back(one);
  }
}

void epoch_world::early_timers(std::vector<action>& out) const {
  for (std::uint32_t i = 0; i < ranks_.size(); ++i)
    for (const auto timer : {membership_timer::patience, membership_timer::succession}) {
      const action one{action_kind::fire, i, static_cast<std::uint32_t>(timer)};
      if (may(one)) out.push_back(one);
    }
}

bool epoch_world::may(const action& what) const {
  if (what.kind == action_kind::land) return may_land(transfers_[what.rank]);
  if (what.kind == action_kind::heal) return parted_ != 0;
  if (what.kind == action_kind::part) return parted_ == 0;
  const auto& m = ranks_[what.rank];
  const auto& s = m.state.membership;
  if (what.kind == action_kind::resume) return m.alive && m.paused;
  if (what.kind == action_kind::deliver || what.kind == action_kind::lose) {
    const auto found = wires_.find(wire_of(what.rank, what.other));
    return found != wires_.end() && !found->second.empty() && is_up(what.other);
  }
  if (!is_up(what.rank)) return false;
  switch (what.kind) {
    case action_kind::call:
      return is_member(what.rank) && m.state.calls.size() < options_.outstanding_count &&
             m.state.called_through < options_.operation_count;
    case action_kind::answer_stop: return m.stop_asked;
    case action_kind::answer_restore: return m.restore_asked;
    case action_kind::suspect: {
      const auto id = ranks_[what.other].state.membership.self;
      return is_member(what.rank) && what.rank != what.other && contains(s.current.members, id) &&
             !std::binary_search(s.accusations.begin(), s.accusations.end(),
                                 net::accusation{id, s.self});
    }
    case action_kind::prove:
      return is_member(what.rank) && !ranks_[what.other].alive &&
             (m.proofs >> what.other & 1u) == 0;
    case action_kind::fire: {
      const bool ever = m.timers[what.other] != 0;
      const bool obeyed = options_.bug == planted_bug::stale_timer_obeyed;
      return is_member(what.rank) && (s.timers[what.other].armed || (obeyed && ever));
    }
    case action_kind::time_out:
    case action_kind::fail: return runs(what.rank) && !m.stop_asked;
    case action_kind::fire_stale: return s.timers[what.other].generation > 0;
    case action_kind::join: return s.phase == membership_phase::joining;
    default: return true;
  }
}

// -- making it happen -----------------------------------------------------------------------------

void epoch_world::apply(const action& what) {
  for (const std::uint64_t part : {static_cast<std::uint64_t>(what.kind), std::uint64_t{what.rank},
                                   std::uint64_t{what.other}, what.mask})
    trace_ = (trace_ ^ part) * 0x100'0000'01b3ull;
  auto& m = ranks_[what.kind == action_kind::land ? 0 : what.rank];
  switch (what.kind) {
    case action_kind::call: post(what.rank, promised_called{++m.calls}); break;
    case action_kind::land: land(what.rank); break;
    case action_kind::deliver: {
      auto& frames = wires_[wire_of(what.rank, what.other)];
      const auto frame = frames.front();
      frames.pop_front();
      post(what.other, net::membership_event(net::membership_frame_received{frame.sender, frame}));
      break;
    }
    case action_kind::suspect: {
      const auto id = ranks_[what.other].state.membership.self;
      if (options_.bug == planted_bug::silence_is_proof)
        post(what.rank, net::membership_event(net::member_ended{id}));
      post(what.rank, net::membership_event(net::member_suspected{id}));
      break;
    }
    case action_kind::prove:
      m.proofs |= std::uint64_t{1} << what.other;
      post(what.rank,
           net::membership_event(net::member_ended{ranks_[what.other].state.membership.self}));
      break;
    case action_kind::fire: fire(what.rank, what.other); break;
    case action_kind::fire_stale: {
      const auto timer = static_cast<membership_timer>(what.other);
      post(what.rank, net::membership_event(net::membership_timer_fired{
                          timer, m.state.membership.timers[what.other].generation - 1}));
      break;
    }
    case action_kind::forge:
      post(what.rank,
           net::membership_event(net::membership_frame_received{
               net::no_member, {.communicator = {1}, .body = net::join_frame{what.mask}}}));
      break;
    case action_kind::time_out: stop_now(what.rank, errc::timed_out, net::no_member); break;
    case action_kind::fail: stop_now(what.rank, errc::mismatch, net::no_member); break;
    case action_kind::answer_stop: stop_now(what.rank, errc::ok, net::no_member); break;
    case action_kind::answer_restore:
      m.restore_asked = false;
      if (m.saved) m.output = m.save;
      m.live = false;
      post(what.rank, input_restored{m.slot});
      break;
    case action_kind::crash: crash(what.rank); break;
    case action_kind::pause: m.paused = true; break;
    case action_kind::resume:
      m.paused = false;
      rested();
      break;
    case action_kind::part: part(what.mask); break;
    case action_kind::heal:
      parted_ = 0;
      rested();
      break;
    case action_kind::lose: wires_.erase(wire_of(what.rank, what.other)); break;
    case action_kind::join:
      ++m.joins;
      post(what.rank, net::membership_event(net::join_retried{}));
      break;
  }
  drain();
}

void epoch_world::fire(std::uint32_t rank, std::uint32_t timer) {
  auto& m = ranks_[rank];
  ++m.fires[timer];
  auto& slot = m.state.membership.timers[timer];
  if (options_.bug == planted_bug::stale_timer_obeyed) slot.armed = true;
  post(rank, net::membership_event(net::membership_timer_fired{static_cast<membership_timer>(timer),
                                                               slot.generation}));
}

void epoch_world::crash(std::uint32_t rank) {
  ranks_[rank].alive = false;
  std::erase_if(transfers_, [&](const transfer& t) { return t.from == rank || t.to == rank; });
  std::erase_if(wires_, [&](const auto& w) { return static_cast<std::uint32_t>(w.first) == rank; });
}

void epoch_world::part(std::uint64_t mask) {
  parted_ = mask;
  std::erase_if(wires_, [&](const auto& w) {
    return !connected(static_cast<std::uint32_t>(w.first >> 32),
                      static_cast<std::uint32_t>(w.first));
  });
}

/// Something works again: who was tired of asking asks again.
void epoch_world::rested() {
  for (auto& one : ranks_)
    one.fires = {};
}

void epoch_world::post(std::uint32_t rank, epoch_event event) {
  inbox_.emplace_back(rank, std::move(event));
}

void epoch_world::drain() {
  while (!inbox_.empty()) {
    const auto [rank, event] = std::move(inbox_.front());
    inbox_.pop_front();
    drive(rank, event);
  }
}

void epoch_world::land(std::size_t index) {
  const transfer one = transfers_[index];
  transfers_.erase(transfers_.begin() + static_cast<std::ptrdiff_t>(index));
  if (one.source.bytes != one.target.bytes)
    return violate(one.to, "a put and an accept of different sizes");
  if (one.source.bytes != 0)
    std::memcpy(at(one.to, one.target), at(one.from, one.source), one.source.bytes);
  const auto runs_it = [&](std::uint32_t rank) {
    const auto& m = ranks_[rank];
    return m.live && m.in == one.in && m.number == one.number;
  };
  const auto place_in = [&](std::uint32_t rank, std::uint32_t peer) {
    const auto& peers = ranks_[rank].peers;
    const auto id = ranks_[peer].state.membership.self;
    const auto found = std::lower_bound(peers.begin(), peers.end(), id);
    return troupe::rank{static_cast<std::uint32_t>(found - peers.begin())};
  };
  if (runs_it(one.from))
    run(one.from, collectives::put_finished{place_in(one.from, one.to), one.step});
  if (runs_it(one.to))
    run(one.to, collectives::accept_finished{place_in(one.to, one.from), one.step});
}

void epoch_world::withdraw(std::uint32_t rank) {
  // The other half of a transfer stays with the peer, which has not stopped.
  for (auto& one : transfers_) {
    if (one.from == rank) one.has_put = false;
    if (one.to == rank) one.has_accept = false;
  }
  std::erase_if(transfers_, [](const transfer& t) { return !t.has_put && !t.has_accept; });
}

bool epoch_world::is_complete(const member& m) const {
  const auto* ftar = std::get_if<collectives::ftar_state>(&m.part.part);
  if (ftar == nullptr) return m.part.phase == collectives::collective_phase::finished;
  return ftar->phase >= collectives::ftar_phase::confirming;
}

void epoch_world::stop_now(std::uint32_t rank, errc why, net::member_id peer) {
  auto& m = ranks_[rank];
  m.stop_asked = false;
  if (options_.bug != planted_bug::fence_skipped) {
    withdraw(rank);
    m.live = false;
  }
  const bool complete = is_complete(m) || options_.bug == planted_bug::progress_overstated;
  post(rank, promised_stopped{m.slot, complete, why, peer});
}

fault_phase epoch_world::phase_of(std::uint32_t rank) const {
  const auto& m = ranks_[rank];
  switch (m.state.membership.phase) {
    case membership_phase::closing: return fault_phase::closing;
    case membership_phase::deciding: return fault_phase::deciding;
    default: break;
  }
  if (m.state.now == epoch_state::activity::restoring) return fault_phase::restoring;
  const auto* ftar = std::get_if<collectives::ftar_state>(&m.part.part);
  if (!m.live || ftar == nullptr) return fault_phase::idle;
  if (ftar->phase == collectives::ftar_phase::saving) return fault_phase::saving;
  if (ftar->phase == collectives::ftar_phase::confirming) return fault_phase::confirming;
  if (ftar->phase == collectives::ftar_phase::over) return fault_phase::idle;
  const auto piece = collectives::ring_piece_at(ftar->ring.shape, ftar->ring.arrivals.finished);
  return piece.time + 1 < ftar->ring.shape.rank_count ? fault_phase::reducing
                                                      : fault_phase::gathering;
}

}  // namespace troupe::sim
