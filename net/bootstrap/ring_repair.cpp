#include <algorithm>
#include <string>

#include "net/bootstrap/detail/bootstrap_turn.hpp"

// Deaths: each is reported once and passed on both ways, once; and the ring closes around the dead
// so that the next death is heard everywhere, too.
namespace troupe::net::detail {

namespace {

bool contains(const std::vector<rank>& ranks, rank r) {
  return std::find(ranks.begin(), ranks.end(), r) != ranks.end();
}

void forget_side(turn& t, ring_side& side) {
  const auto id = side.connection;
  side.connection = 0;
  side.open = false;
  side.departed = true;
  drop_connection(t, id);
}

}  // namespace

bool is_dead(const bootstrap_state& state, rank r) {
  return r.value < state.ring.dead.size() && state.ring.dead[r.value];
}

void learn_death(turn& t, rank dead, death_source source) {
  auto& state = t.state;
  auto& ring = state.ring;
  if (dead.value >= state.options.world_size) return;
  if (state.phase == bootstrap_phase::gathering) {
    TROUPE_MARK("bootstrap: a rank died while the ring formed");
    return fail_join(t, errc::peer_lost, dead,
                     "phase ring: rank " + std::to_string(dead.value) + " ended");
  }
  if (state.phase != bootstrap_phase::joined) return;
  if (dead == state.options.self) {
    TROUPE_MARK("bootstrap: heard of our own death");
    return;
  }
  if (is_dead(state, dead)) {
    TROUPE_MARK("bootstrap: death heard again");
    return;
  }
  if (ring.dead.empty()) ring.dead.assign(state.options.world_size, false);
  ring.dead[dead.value] = true;
  ring.deaths.push_back({dead, source});
  emit(t, report_death{dead});
  end_link(t, dead, errc::peer_lost, "it ended");
  const bool ahead = ring.successor.peer == dead;
  const bool behind = ring.predecessor.peer == dead;
  if (behind) forget_side(t, ring.predecessor);
  if (ahead) forget_side(t, ring.successor);
  pump(t, ring.successor);
  pump(t, ring.predecessor);
  if (ahead) begin_repair(t);
}

bool may_become_predecessor(turn& t, rank dialer) {
  if (t.state.phase != bootstrap_phase::joined || dialer == t.state.options.self) return false;
  // The dialer vouches for the death of everybody between; its notices follow. Our old predecessor
  // is one of them, whether we saw it or not.
  TROUPE_MARK("bootstrap: ring closes around the dead");
  return true;
}

void begin_repair(turn& t) {
  auto& state = t.state;
  auto& ring = state.ring;
  auto candidate = state.plan.successor_of(ring.successor.peer);
  while (candidate != state.options.self &&
         (is_dead(state, candidate) || contains(ring.skipped, candidate)))
    candidate = state.plan.successor_of(candidate);
  ring.refused_count = 0;
  ring.pause = duration::zero();
  if (candidate == state.options.self) {
    TROUPE_MARK("bootstrap: alone in the ring");
    return finish_repair(t);
  }
  ring.successor = ring_side{.peer = candidate};
  ring.successor_address = state.book.at(candidate).address;
  ring.retry_at = t.now;
}

void on_repair_refused(turn& t) {
  TROUPE_MARK("bootstrap: next in the ring is gone, too");
  auto& ring = t.state.ring;
  ring.skipped.push_back(ring.successor.peer);
  begin_repair(t);
}

void finish_repair(turn& t) {
  // Only now: a rank that left in good order refuses, too, and then most of the ring does.
  const auto skipped = std::move(t.state.ring.skipped);
  t.state.ring.skipped.clear();
  for (const auto r : skipped)
    learn_death(t, r, death_source::here);
}

}  // namespace troupe::net::detail
