#include "net/bootstrap/bootstrap_machine.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "net/bootstrap/detail/bootstrap_turn.hpp"

namespace troupe::net {

namespace detail {

namespace {

void on(turn& t, const join_started& event) {
  auto& state = t.state;
  if (state.phase != bootstrap_phase::idle) return;
  const auto& options = state.options;
  state.nonces.entropy = event.entropy;
  state.own_address = event.own_address;
  state.instance = state.nonces.next_number(options.crypto);
  state.chance = random_stream(state.nonces.next_number(options.crypto));
  state.started = t.now;
  state.deadline = saturating_add(t.now, options.timeout);
  state.phase = bootstrap_phase::registering;
  if (options.world_size == 0 || options.data_lane_count > 254)
    return fail_join(t, errc::bad_argument, no_rank,
                     "phase start: a world has at least 1 rank and a link at most 254 data lanes");
  if (options.world_size == 1 && options.self.value == 0) {
    state.book.resize(1);
    state.book.set(rank{0}, {state.own_address, options.place});
    state.phase = bootstrap_phase::joined;
    emit(t, report_joined{});
    return;
  }
  if (options.contact) {
    // The ring goes on without it, and it learns the addresses of others over its first link.
    TROUPE_MARK("newcomer: begins");
    state.book.resize(options.world_size);
    state.book.set(options.self, {state.own_address, options.place});
    state.book.set(options.contact->member, {options.contact->address, {}});
    state.phase = bootstrap_phase::joined;
    emit(t, report_joined{});
    return;
  }
  if (!state.plan.fits())
    return fail_join(
        t, errc::not_available, no_rank,
        "phase start: a rendezvous fan-out of " + std::to_string(options.rendezvous_fan_out) +
            " reaches " +
            std::to_string(std::uint64_t{options.rendezvous_fan_out} * options.rendezvous_fan_out) +
            " ranks in two levels, the world has " + std::to_string(options.world_size));
  state.book.resize(options.world_size);
  if (options.self.value < options.world_size) {
    state.book.set(options.self, {state.own_address, options.place});
    state.ring.successor.peer = state.plan.successor_of(options.self);
    state.ring.predecessor.peer = state.plan.predecessor_of(options.self);
    const auto blocks = (options.world_size + page_entry_count - 1) / page_entry_count;
    state.ring.full_blocks.assign(blocks, false);
  }
  begin_serving(t);
  begin_registration(t);
}

void on(turn& t, const connection_accepted& event) {
  on_connection_accepted(t, event.connection);
}
void on(turn& t, const connection_opened& event) {
  on_connection_opened(t, event.connection);
}

void on(turn& t, const connection_refused& event) {
  on_connection_ended(t, event.connection, event.cause);
}

void on(turn& t, const connection_message& event) {
  on_connection_message(t, event.connection, event.bytes);
}

void on(turn& t, const connection_lost& event) {
  on_connection_ended(t, event.connection, event.cause);
}

void on(turn& t, const link_wanted& event) {
  on_link_wanted(t, event.peer);
}
void on(turn& t, const link_dropped& event) {
  on_link_dropped(t, event);
}
void on(turn& t, const lane_wanted& event) {
  on_lane_wanted(t, event);
}
void on(turn& t, const addresses_learned& event) {
  for (const auto& [who, entry] : event.entries) {
    const bool is_rank = is_newcomer(who) || who.value < t.state.options.world_size;
    if (!is_rank || who == t.state.options.self || entry.address.port == 0) continue;
    t.state.book.set(who, entry);
  }
}
void on(turn& t, const death_learned& event) {
  learn_death(t, event.dead, death_source::here);
}

void on(turn& t, const leave_started&) {
  auto& state = t.state;
  if (state.phase == bootstrap_phase::idle || state.phase == bootstrap_phase::registering ||
      state.phase == bootstrap_phase::gathering || state.phase == bootstrap_phase::failing) {
    // Nobody counts on a rank that has not joined; what it holds just ends.
    TROUPE_MARK("bootstrap: left before it had joined");
    state.phase = bootstrap_phase::left;
    return drop_all_connections(t);
  }
  if (state.phase != bootstrap_phase::joined) return;
  for (auto& [peer, link] : state.links)
    link.wanted = false;
  state.phase = bootstrap_phase::departing;
  // Chosen: what is left of the book takes the successor one round trip for each eight pages.
  state.linger_until = saturating_add(t.now, std::chrono::seconds(1));
  pump(t, state.ring.successor);
}

void on(turn& t, const bootstrap_timer_fired&) {
  auto& state = t.state;
  run_connection_deadlines(t);
  const bool joining = state.phase == bootstrap_phase::registering ||
                       state.phase == bootstrap_phase::gathering ||
                       (state.phase == bootstrap_phase::failing);
  if (joining) run_rendezvous_deadlines(t);
  if (joining) run_registration_deadlines(t);
  if (state.phase == bootstrap_phase::gathering || state.phase == bootstrap_phase::joined ||
      state.phase == bootstrap_phase::failing)
    run_ring_deadlines(t);
  if (state.phase == bootstrap_phase::joined) run_link_deadlines(t);
  if (state.phase == bootstrap_phase::joined) run_rebuilding_deadlines(t);
  if (state.phase == bootstrap_phase::registering && state.deadline <= t.now) {
    TROUPE_MARK("bootstrap: registration deadline passed");
    const bool registered = state.registration.phase == registration_phase::registered;
    fail_join(t, registered ? errc::timed_out : errc::unreachable,
              registered ? no_rank : state.registration.target, describe_registration(state));
  }
  if (state.phase == bootstrap_phase::gathering && witness_deadline(state) <= t.now) {
    TROUPE_MARK("bootstrap: ring deadline passed");
    fail_join(t, errc::timed_out, culprit_of(state), describe_ring(state));
  }
  settle_failure(t);
  if (state.phase == bootstrap_phase::departing && state.linger_until <= t.now) {
    TROUPE_MARK("bootstrap: left with pages unsent");
    depart(t);
  }
}

instant next_deadline(const bootstrap_state& state, instant now) {
  using phase = bootstrap_phase;
  if (!state.deferred.empty()) return now;
  auto next = never;
  for (const auto& [id, connection] : state.connections)
    next = std::min(next, connection.deadline);
  const auto p = state.phase;
  if (p == phase::registering || p == phase::failing)
    next = std::min(next, state.registration.retry_at);
  if (p == phase::registering) {
    next = std::min(next, state.deadline);
    if (state.rendezvous.serving && !state.rendezvous.answered)
      next = std::min(next, state.rendezvous.give_up_at);
  }
  if (p == phase::gathering) next = std::min(next, witness_deadline(state));
  if (p == phase::gathering || p == phase::failing || p == phase::joined)
    next = std::min(next, state.ring.retry_at);
  if (p == phase::failing || p == phase::departing) next = std::min(next, state.linger_until);
  if (p != phase::joined) return next;
  for (const auto& [peer, link] : state.links) {
    next = std::min({next, link.retry_at, link.incoming_until});
    if (link.wanted) next = std::min(next, link.wanted_until);
    for (const auto& lane : link.rebuilding)
      next = std::min(next, lane.retry_at);
  }
  return next;
}

void rearm(turn& t) {
  auto& state = t.state;
  const auto next = next_deadline(state, t.now);
  if (next == state.timer_deadline) return;
  state.timer_deadline = next;
  if (next == never) return;  // the one that is armed finds nothing to do
  t.out.push_back(arm_bootstrap_timer{next, ++state.timer_generation});
}

}  // namespace

void join_if_complete(turn& t) {
  auto& state = t.state;
  const auto& ring = state.ring;
  if (state.phase != bootstrap_phase::gathering) return;
  if (ring.full_block_count != ring.full_blocks.size()) return;
  if (culprit_of(state) != no_rank) return;
  state.phase = bootstrap_phase::joined;
  emit(t, report_joined{});
  admit_held_lanes(t);
}

}  // namespace detail

bootstrap_state::bootstrap_state(bootstrap_options from, std::pmr::memory_resource* memory)
    : options(std::move(from)),
      plan{.world_size = options.world_size, .fan_out = options.rendezvous_fan_out},
      digest(digest_of(options.must_agree)),
      book(memory),
      rendezvous(memory),
      ring(memory) {
  TROUPE_ASSERT(options.crypto.mac != nullptr);
  TROUPE_ASSERT(options.crypto.equal != nullptr);
  TROUPE_ASSERT(options.must_agree.size() <= 0xffff);
}

address_list known_to(const bootstrap_state& state) {
  address_list out;
  for (std::uint32_t r = 0; r < state.book.size(); ++r)
    if (const auto entry = state.book.at(rank{r}); entry.address.port != 0)
      out.entries.push_back({rank{r}, entry});
  for (const auto& [r, entry] : state.book.newcomers())
    out.entries.push_back({rank{r}, entry});
  return out;
}

void step(bootstrap_state& state, const bootstrap_event& event, instant now,
          bootstrap_effects& out) {
  detail::turn t{state, now, out};
  if (const auto* fired = std::get_if<bootstrap_timer_fired>(&event)) {
    if (fired->generation != state.timer_generation) {
      TROUPE_MARK("bootstrap: old timer ignored");
      return;
    }
    state.timer_deadline = never;
  }
  detail::flush_deferred(t);
  std::visit([&t](const auto& e) { detail::on(t, e); }, event);
  detail::rearm(t);
}

}  // namespace troupe::net
