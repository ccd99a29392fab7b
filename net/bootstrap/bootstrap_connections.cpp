#include <algorithm>
#include <utility>

#include "net/bootstrap/detail/bootstrap_turn.hpp"

namespace troupe::net::detail {

namespace {

void count_peak(bootstrap_state& state) {
  state.counters.connections_peak = std::max(state.counters.connections_peak,
                                             static_cast<std::uint32_t>(state.connections.size()));
}

void send_bytes(turn& t, std::uint64_t connection, std::span<const std::byte> bytes) {
  send_on_connection effect{.connection = connection,
                            .length = static_cast<std::uint16_t>(bytes.size())};
  std::copy(bytes.begin(), bytes.end(), effect.frame.begin());
  t.state.counters.messages_sent += 1;
  t.state.counters.bytes_sent += bytes.size();
  emit(t, effect);
}

bool is_of_link(connection_purpose purpose) {
  return purpose == connection_purpose::link || purpose == connection_purpose::lane;
}

// Unproved connections are cheap to make, so they are cheap to lose: beyond the bound one of them
// goes, whichever. Dropping the oldest would let a herd of honest dialers starve each other, each
// newcomer ending a handshake that is nearly over; turning the newcomer away would let a few silent
// strangers hold the door.
void make_room_for_unproved(turn& t) {
  std::vector<std::uint64_t> unproved;
  for (const auto& [id, connection] : t.state.connections)
    if (!is_dialled(id) && !connection.proved) unproved.push_back(id);
  if (unproved.size() < std::max(t.state.options.pending_connection_count, 1u)) return;
  TROUPE_MARK("bootstrap: one of too many unproved connections dropped");
  const auto victim = unproved[t.state.chance.below(unproved.size())];
  t.state.counters.strangers += 1;
  emit(t, count_stranger{victim, "was one of too many that had not proved themselves"});
  drop_connection(t, victim);
}

void shrug_off(turn& t, std::uint64_t connection, const handshake_outcome& outcome) {
  if (outcome.reply.length != 0) send_bytes(t, connection, outcome.reply.bytes());
  if (const auto* c = find_connection(t, connection);
      c != nullptr && c->shake.phase == handshake_phase::awaiting_proof)
    note_unproved(t, c->shake.hello.dialer);
  t.state.counters.strangers += 1;
  emit(t, count_stranger{connection, outcome.reason});
  drop_connection(t, connection);
}

void admit(turn& t, std::uint64_t connection, bootstrap_connection& c) {
  c.proved = true;
  c.peer = c.shake.hello.dialer;
  std::uint64_t detail = 0;
  const auto misfit = misfit_of(c.shake, identity_of(t.state), detail);
  if (misfit != handshake_status::welcome) {
    TROUPE_MARK("bootstrap: proved dialer does not fit");
    const auto peer = c.peer;
    const auto version = c.shake.hello.protocol_version;
    const auto purpose = c.shake.hello.purpose;
    turn_away(t, connection, misfit, detail);
    if (misfit == handshake_status::wrong_job) {
      t.state.counters.strangers += 1;
      emit(t, count_stranger{connection, "belongs to another job"});
    }
    if (misfit == handshake_status::wrong_version && purpose == connection_purpose::rendezvous &&
        t.state.rendezvous.serving && !t.state.rendezvous.answered) {
      note_told(t, peer);
      fail_join(t, errc::version_mismatch, peer,
                "rank " + std::to_string(peer.value) + " speaks version " +
                    std::to_string(version) + " of the protocol, " +
                    describe(t.state.options.self, t.state.own_address) + " version " +
                    std::to_string(t.state.options.protocol_version));
    }
    return;
  }
  switch (c.shake.hello.purpose) {
    case connection_purpose::rendezvous: return admit_registrant(t, connection);
    case connection_purpose::ring: return admit_predecessor(t, connection);
    case connection_purpose::link: return admit_lane(t, connection);
    case connection_purpose::lane: return admit_rebuilt_lane(t, connection);
  }
}

void tell_welcomed(turn& t, std::uint64_t connection, connection_role role) {
  switch (role) {
    case connection_role::registrar: return on_registrar_welcomed(t);
    case connection_role::successor: return on_successor_welcomed(t);
    case connection_role::link: return on_lane_welcomed(t, connection);
    case connection_role::lane: return on_rebuilt_lane_welcomed(t, connection);
    case connection_role::registrant:
    case connection_role::predecessor:
    case connection_role::unknown: return;  // accepted, never dialled
  }
}

void tell_ended(turn& t, connection_role role, const connection_end& end) {
  switch (role) {
    case connection_role::registrar: return on_registrar_ended(t, end);
    case connection_role::registrant: return on_registrant_ended(t, end.connection);
    case connection_role::successor: return on_successor_ended(t, end);
    case connection_role::predecessor: return on_predecessor_ended(t, end);
    case connection_role::link: return on_lane_ended(t, end);
    case connection_role::lane: return on_rebuilt_lane_ended(t, end);
    case connection_role::unknown: return;
  }
}

void tell_frame(turn& t, std::uint64_t connection, connection_role role,
                const bootstrap_frame& frame) {
  switch (role) {
    case connection_role::registrar: return on_registrar_frame(t, frame);
    case connection_role::registrant: return on_registrant_frame(t, connection, frame);
    case connection_role::successor: return on_ring_frame(t, t.state.ring.successor, frame);
    case connection_role::predecessor: return on_ring_frame(t, t.state.ring.predecessor, frame);
    case connection_role::link:
    case connection_role::lane:
    case connection_role::unknown: return;  // never open here
  }
}

// Forgets the connection, closes it, and tells its user why.
void end_connection(turn& t, std::uint64_t connection, connection_end end) {
  const auto* c = find_connection(t, connection);
  if (c == nullptr) return;
  end.connection = connection;
  end.peer = c->peer;
  end.was_open = c->stage == connection_stage::open;
  const auto role = c->role;
  drop_connection(t, connection);
  tell_ended(t, role, end);
}

void on_handshake_message(turn& t, std::uint64_t connection, bootstrap_connection& c,
                          std::span<const std::byte> bytes) {
  const auto outcome = receive(c.shake, bytes, identity_of(t.state), t.state.nonces);
  using kind = handshake_outcome::kind;
  switch (outcome.what) {
    case kind::went_on: return send_bytes(t, connection, outcome.reply.bytes());
    case kind::stranger: return shrug_off(t, connection, outcome);
    case kind::proved: return admit(t, connection, c);
    case kind::welcomed:
      c.stage = connection_stage::open;
      c.proved = true;
      c.deadline = never;
      return tell_welcomed(t, connection, c.role);
    case kind::refused:
      return end_connection(t, connection,
                            {.cause = {errc::authentication_failed, 0, c.peer},
                             .step = "refused this rank",
                             .status = outcome.status,
                             .detail = outcome.detail,
                             .believed = outcome.authentic});
    case kind::impostor:
      return end_connection(t, connection,
                            {.cause = {errc::authentication_failed, 0, c.peer},
                             .step = outcome.reason,
                             .believed = false});
  }
}

}  // namespace

void emit(turn& t, bootstrap_effect effect) {
  // One place is kept for the timer that every step may end with.
  if (t.state.deferred.empty() && t.out.size() + 1 < t.out.capacity()) {
    t.out.push_back(std::move(effect));
    return;
  }
  TROUPE_MARK("bootstrap: effects deferred to the next step");
  t.state.deferred.push_back(std::move(effect));
}

void flush_deferred(turn& t) {
  while (!t.state.deferred.empty() && t.out.size() + 1 < t.out.capacity()) {
    t.out.push_back(std::move(t.state.deferred.front()));
    t.state.deferred.pop_front();
  }
}

bootstrap_connection* find_connection(turn& t, std::uint64_t connection) {
  const auto found = t.state.connections.find(connection);
  return found == t.state.connections.end() ? nullptr : &found->second;
}

handshake_identity identity_of(const bootstrap_state& state) {
  return {.self = state.options.self,
          .job = state.options.job,
          .protocol_version = state.options.protocol_version,
          .secret = state.options.secret,
          .crypto = state.options.crypto};
}

std::uint64_t dial_peer(turn& t, const dial_request& request) {
  const auto id = dialled_bit | ++t.state.dialled_count;
  bootstrap_connection c;
  c.stage = connection_stage::dialing;
  c.role = request.role;
  c.peer = request.peer;
  c.to = request.to;
  c.deadline = std::min(request.deadline, saturating_add(t.now, t.state.options.step_timeout));
  c.shake.hello = request.hello;
  c.shake.hello.acceptor = request.peer;
  if (is_of_link(request.hello.purpose))
    emit(t, dial_lane{id, request.to, c.deadline});
  else
    emit(t, dial_connection{id, request.to, c.deadline});
  t.state.connections.emplace(id, std::move(c));
  count_peak(t.state);
  return id;
}

void send_frame(turn& t, std::uint64_t connection, const bootstrap_frame& frame) {
  std::array<std::byte, lane_message_bytes_max> bytes{};
  const auto length = encode_bootstrap_frame(frame, bytes);
  send_bytes(t, connection, std::span(bytes).first(length));
}

void drop_connection(turn& t, std::uint64_t connection) {
  if (t.state.connections.erase(connection) != 0) emit(t, close_connection{connection});
}

void drop_all_connections(turn& t) {
  while (!t.state.connections.empty())
    drop_connection(t, t.state.connections.begin()->first);
}

void welcome(turn& t, std::uint64_t connection, connection_role role) {
  auto* c = find_connection(t, connection);
  TROUPE_ASSERT(c != nullptr);
  send_bytes(t, connection,
             decide(c->shake, handshake_status::welcome, 0, identity_of(t.state)).bytes());
  c->stage = connection_stage::open;
  c->role = role;
  c->deadline = never;
}

void turn_away(turn& t, std::uint64_t connection, handshake_status status, std::uint64_t detail) {
  auto* c = find_connection(t, connection);
  TROUPE_ASSERT(c != nullptr);
  send_bytes(t, connection, decide(c->shake, status, detail, identity_of(t.state)).bytes());
  drop_connection(t, connection);
}

void on_connection_accepted(turn& t, std::uint64_t connection) {
  const auto phase = t.state.phase;
  if (is_dialled(connection) || find_connection(t, connection) != nullptr) return;
  if (phase == bootstrap_phase::idle || phase == bootstrap_phase::failed ||
      phase == bootstrap_phase::departing || phase == bootstrap_phase::left) {
    TROUPE_MARK("bootstrap: accepted outside of a job");
    emit(t, close_connection{connection});
    return;
  }
  make_room_for_unproved(t);
  bootstrap_connection c;
  c.deadline = saturating_add(t.now, t.state.options.step_timeout);
  t.state.connections.emplace(connection, std::move(c));
  count_peak(t.state);
}

void on_connection_opened(turn& t, std::uint64_t connection) {
  auto* c = find_connection(t, connection);
  if (c == nullptr || c->stage != connection_stage::dialing) {
    TROUPE_MARK("bootstrap: a dial that was given up opened");
    return;
  }
  c->stage = connection_stage::shaking;
  c->deadline = std::min(c->deadline, saturating_add(t.now, t.state.options.step_timeout));
  const auto hello = c->shake.hello;
  send_bytes(t, connection, dial(c->shake, hello, identity_of(t.state), t.state.nonces).bytes());
}

void on_connection_message(turn& t, std::uint64_t connection, std::span<const std::byte> bytes) {
  auto* c = find_connection(t, connection);
  if (c == nullptr || c->stage == connection_stage::dialing) {
    TROUPE_MARK("bootstrap: message of a forgotten connection");
    return;
  }
  if (c->stage == connection_stage::shaking) return on_handshake_message(t, connection, *c, bytes);
  const auto frame = decode_bootstrap_frame(bytes);
  if (c->stage == connection_stage::held || !frame) {
    // A proved peer that breaks the protocol: nothing it says later can be trusted.
    TROUPE_MARK("bootstrap: proved peer broke the protocol");
    return end_connection(
        t, connection,
        {.cause = {errc::malformed, 0, c->peer}, .step = "sent a message that it must not send"});
  }
  tell_frame(t, connection, c->role, *frame);
}

void on_connection_ended(turn& t, std::uint64_t connection, error cause) {
  auto* c = find_connection(t, connection);
  if (c == nullptr) {
    TROUPE_MARK("bootstrap: end of a forgotten connection");
    return;
  }
  const auto stage = c->stage;
  if (!is_dialled(connection) && !c->proved) {
    // Who said a hello of this job and left is a rank that changed its mind, or died.
    if (c->shake.phase == handshake_phase::awaiting_hello) {
      TROUPE_MARK("bootstrap: connection left without a word");
      t.state.counters.strangers += 1;
      emit(t, count_stranger{connection, "left without a word"});
    }
    drop_connection(t, connection);
    return;
  }
  end_connection(t, connection,
                 {.cause = cause,
                  .step = stage == connection_stage::dialing   ? "could not be connected to"
                          : stage == connection_stage::shaking ? "closed the connection during the "
                                                                 "handshake"
                                                               : "closed the connection",
                  .never_opened = stage == connection_stage::dialing});
}

void run_connection_deadlines(turn& t) {
  // Ending one may end others: look again from the start after each.
  for (;;) {
    const auto due =
        std::find_if(t.state.connections.begin(), t.state.connections.end(),
                     [&](const auto& entry) { return entry.second.deadline <= t.now; });
    if (due == t.state.connections.end()) return;
    const auto id = due->first;
    if (!is_dialled(id) && !due->second.proved) {
      TROUPE_MARK("bootstrap: silent stranger dropped");
      t.state.counters.strangers += 1;
      emit(t, count_stranger{id, "did not prove itself in time"});
      drop_connection(t, id);
      continue;
    }
    TROUPE_MARK("bootstrap: step deadline passed");
    const bool connecting = due->second.stage == connection_stage::dialing;
    end_connection(
        t, id,
        {.cause = {errc::timed_out, 0, due->second.peer},
         .step = connecting ? "did not take the connection in time" : "did not answer in time"});
  }
}

}  // namespace troupe::net::detail
