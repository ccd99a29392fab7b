#include <algorithm>

#include "net/bootstrap/detail/bootstrap_turn.hpp"

// The client's side of the rendezvous: register, be sent on to a leader, learn the successor.
namespace troupe::net::detail {

namespace {

// Ranks of one launch start together. Spread over time, their first dials meet a listener that
// keeps up: 20 us a rank is what a handshake costs its acceptor, with room to spare.
constexpr duration stagger_per_rank = std::chrono::microseconds(20);
// Leaders register before their groups ask for them.
constexpr duration leader_head_start = std::chrono::milliseconds(5);

bool registers_locally(const bootstrap_state& state) {
  return state.options.self.value == 0 && !state.plan.is_tree();
}

void pause_registration(turn& t) {
  auto& r = t.state.registration;
  r.connection = 0;
  r.phase = registration_phase::pausing;
  // With its jitter no pause is longer than a server stays to tell why it gave up.
  const auto longest = std::min<duration>(longest_pause, margin_of(t.state.options) * 2 / 3);
  r.pause = std::min(longest, std::max(first_pause, 2 * r.pause));
  // The jitter keeps a herd apart.
  r.retry_at = t.now + r.pause / 2 +
               duration(t.state.chance.below(static_cast<std::uint64_t>(r.pause.count())));
  // Whatever leader we were sent to may be gone: ask again.
  if (t.state.options.self.value != 0) {
    r.target = rank{0};
    r.address = t.state.options.rendezvous;
  }
}

void dial_registrar(turn& t) {
  auto& r = t.state.registration;
  r.phase = registration_phase::connecting;
  r.retry_at = never;
  ++r.dial_count;
  // Rank 0 of a tree is the root: it has its leader's latest address itself.
  if (t.state.options.self.value == 0) r.address = t.state.rendezvous.slots[0].address;
  r.connection = dial_peer(t, {.role = connection_role::registrar,
                               .peer = r.target,
                               .to = r.address,
                               .deadline = t.state.deadline,
                               .hello = {.purpose = connection_purpose::rendezvous}});
}

void send_registration(turn& t) {
  auto& state = t.state;
  const auto patience = std::chrono::duration_cast<std::chrono::microseconds>(
      std::max(state.deadline - t.now, duration::zero()));
  const bool leads = state.plan.is_leader(state.options.self);
  send_frame(t, state.registration.connection,
             register_frame{
                 .self = state.options.self,
                 .world_size = state.options.world_size,
                 .role = leads ? rendezvous_role::leader : rendezvous_role::member,
                 .host_id = state.options.place.host,
                 .instance = state.instance,
                 .digest = state.digest,
                 .patience_microseconds = static_cast<std::uint64_t>(patience.count()),
                 .address = state.own_address,
             });
}

void on_assigned(turn& t, const assigned_frame& frame) {
  auto& r = t.state.registration;
  const auto& plan = t.state.plan;
  const auto self = t.state.options.self;
  const bool leads = plan.is_leader(self);
  const auto last = rank{plan.first_of(plan.group_of(self)).value +
                         (leads ? plan.size_of(plan.group_of(self)) : 1) - 1};
  const auto expected = plan.successor_of(leads ? last : self);
  if (frame.successor != expected) {
    TROUPE_MARK("bootstrap: wrong successor assigned");
    drop_connection(t, r.connection);
    r.last_cause = {errc::malformed, 0, r.target};
    r.last_step = "named a successor that is not ours";
    return pause_registration(t);
  }
  drop_connection(t, r.connection);
  r.connection = 0;
  if (leads) return answer_group(t, frame.address);
  learn_successor(t, frame.address);
}

// A refusal that asking again would not change ends the join at once.
bool end_for_good(turn& t, const connection_end& end) {
  const auto who = describe(end.peer, t.state.registration.address);
  const auto text = [&](const std::string& cause) {
    return "phase registration: " + who + ": " + cause;
  };
  if (is_own_failure(end.cause)) {
    fail_join(t, end.cause.code, end.peer, text(end.step + describe(end.cause)));
    return true;
  }
  switch (end.status) {
    case handshake_status::wrong_version:
      fail_join(t, errc::version_mismatch, end.peer,
                text("it speaks version " + std::to_string(end.detail) +
                     " of the protocol, this rank version " +
                     std::to_string(t.state.options.protocol_version)));
      return true;
    case handshake_status::unknown_format:
      fail_join(t, errc::version_mismatch, end.peer, text(to_string(end.status)));
      return true;
    case handshake_status::bad_proof:
      fail_join(t, errc::authentication_failed, end.peer, text(to_string(end.status)));
      return true;
    case handshake_status::wrong_job:
    case handshake_status::not_a_member:
      fail_join(t, errc::membership_conflict, end.peer, text(to_string(end.status)));
      return true;
    default: return false;
  }
}

}  // namespace

void begin_registration(turn& t) {
  auto& state = t.state;
  auto& r = state.registration;
  const auto self = state.options.self;
  r.target = rank{0};
  r.address = state.options.rendezvous;
  if (registers_locally(state)) {
    r.phase = registration_phase::registered;
    return;
  }
  if (self.value == 0) {
    r.phase = registration_phase::awaiting_leader;
    return;
  }
  auto delay = stagger_per_rank * self.value;
  if (state.plan.is_tree() && !state.plan.is_leader(self)) delay += leader_head_start;
  r.phase = registration_phase::pausing;
  r.retry_at = t.now + std::min<duration>(delay, state.options.timeout / 4);
}

void on_registrar_welcomed(turn& t) {
  auto& r = t.state.registration;
  if (t.state.phase == bootstrap_phase::failing) {
    TROUPE_MARK("bootstrap: leader reaches the root to tell of a failure");
    send_frame(t, r.connection, failure_frame(t.state));
    r.told = true;
    return;
  }
  r.phase = registration_phase::registered;
  send_registration(t);
  auto* c = find_connection(t, r.connection);
  TROUPE_ASSERT(c != nullptr);
  // Whoever only sends us on to a leader does so at once.
  if (t.state.plan.is_tree() && r.target.value == 0 &&
      !t.state.plan.is_leader(t.state.options.self))
    c->deadline = saturating_add(t.now, t.state.options.step_timeout);
  if (t.state.rendezvous.serving && t.state.rendezvous.complete_sent)
    send_frame(t, r.connection, group_complete_frame{});
}

void on_registrar_frame(turn& t, const bootstrap_frame& frame) {
  auto& r = t.state.registration;
  if (const auto* failed = std::get_if<failed_frame>(&frame)) {
    r.heard = true;
    fail_join(t, failed->code, failed->peer, std::string(failed->text));
    return settle_failure(t);
  }
  if (t.state.phase != bootstrap_phase::registering) return;
  if (const auto* assigned = std::get_if<assigned_frame>(&frame)) return on_assigned(t, *assigned);
  if (const auto* redirect = std::get_if<redirect_frame>(&frame)) {
    drop_connection(t, r.connection);
    r.target = redirect->leader;
    r.address = redirect->address;
    r.pause = duration::zero();
    return dial_registrar(t);
  }
  if (const auto* wanted = std::get_if<options_wanted_frame>(&frame)) {
    std::array<std::byte, lane_message_bytes_max> text{};
    send_frame(t, r.connection, options_page_of(t.state.options.must_agree, wanted->first, text));
    return;
  }
  if (std::holds_alternative<retry_frame>(frame)) {
    TROUPE_MARK("bootstrap: leader not there yet");
    r.last_cause = {errc::unreachable, 0, t.state.plan.leader_of(0)};
    r.last_step = "does not know the leader of this rank's group yet";
  } else {
    TROUPE_MARK("bootstrap: registrar broke the protocol");
    r.last_cause = {errc::malformed, 0, r.target};
    r.last_step = "sent a message that it must not send";
  }
  drop_connection(t, r.connection);
  pause_registration(t);
}

void on_registrar_ended(turn& t, const connection_end& end) {
  auto& r = t.state.registration;
  if (end.connection != r.connection) return;
  r.last_cause = end.cause;
  r.last_step = end.status == handshake_status::welcome ? end.step : to_string(end.status);
  if (t.state.phase == bootstrap_phase::registering && end_for_good(t, end)) return;
  if (t.state.phase == bootstrap_phase::failing && r.told) {
    r.heard = true;
    r.connection = 0;
    return settle_failure(t);
  }
  if (end.was_open) TROUPE_MARK("bootstrap: registration broke, asking again");
  pause_registration(t);
}

void run_registration_deadlines(turn& t) {
  auto& r = t.state.registration;
  if (r.phase != registration_phase::pausing || r.retry_at > t.now) return;
  dial_registrar(t);
}

void learn_leader(turn& t, const lane_address& address) {
  auto& r = t.state.registration;
  if (r.phase != registration_phase::awaiting_leader) return;
  r.target = t.state.plan.leader_of(0);
  r.address = address;
  dial_registrar(t);
}

void learn_successor(turn& t, const lane_address& address) {
  t.state.registration.phase = registration_phase::assigned;
  t.state.registration.connection = 0;
  begin_gathering(t, address);
}

std::string describe_registration(const bootstrap_state& state) {
  const auto& r = state.registration;
  const auto who = describe(r.target, r.address);
  if (r.phase == registration_phase::registered)
    return "phase registration: registered with " + who + ", but the world of " +
           std::to_string(state.options.world_size) + " ranks did not become complete within " +
           describe(state.options.timeout);
  if (r.phase == registration_phase::awaiting_leader)
    return "phase registration: rank 1 did not register within " + describe(state.options.timeout);
  return "phase registration: " + who + " could not be reached within " +
         describe(state.options.timeout) + "; " + std::to_string(r.dial_count) +
         " dials, at last it " + (r.last_step[0] != 0 ? r.last_step : "was being dialled") +
         describe(r.last_cause);
}

}  // namespace troupe::net::detail
