#include <algorithm>
#include <string>

#include "net/bootstrap/detail/bootstrap_turn.hpp"

// Links on demand. A link is made by one side's dial of all its lanes; where both dial at once,
// the lower rank's dial goes on and the higher rank waits for its lanes. Generations count the
// links of a pair, so that a late lane of an earlier link is told from a new link.
namespace troupe::net::detail {

namespace {

std::uint8_t lane_count_of(const bootstrap_state& state) {
  return static_cast<std::uint8_t>(state.options.data_lane_count + 1);
}

void drop_lanes(turn& t, link_entry& link) {
  // Taken out first: the end of one must not find the others.
  const auto lanes = std::move(link.lanes);
  link.lanes.clear();
  link.ready_count = 0;
  for (const auto id : lanes)
    drop_connection(t, id);
  stop_rebuilding(t, link);
}

void dial_lanes(turn& t, rank peer, link_entry& link) {
  if (t.state.book.at(peer).address.port == 0) {
    // A newcomer that has not said where it is: it dials everybody as soon as it is in.
    TROUPE_MARK("newcomer: others wait for its dial");
    link.phase = link_phase::superseded;
    link.retry_at = never;
    return;
  }
  link.phase = link_phase::dialing;
  link.retry_at = never;
  link.attempt = link.generation + 1;
  link.instance = t.state.nonces.next_number(t.state.options.crypto);
  const auto count = lane_count_of(t.state);
  link.lanes.assign(count, 0);
  link.ready_count = 0;
  for (std::uint8_t lane = 0; lane < count; ++lane)
    link.lanes[lane] = dial_peer(t, {.role = connection_role::link,
                                     .peer = peer,
                                     .to = t.state.book.at(peer).address,
                                     .deadline = link.wanted_until,
                                     .hello = {.purpose = connection_purpose::link,
                                               .lane = lane,
                                               .lane_count = count,
                                               .link_generation = link.attempt,
                                               .link_instance = link.instance}});
}

void pause_link(turn& t, link_entry& link) {
  drop_lanes(t, link);
  link.phase = link_phase::pausing;
  link.pause = std::min(longest_pause, std::max(first_pause, 2 * link.pause));
  link.retry_at = t.now + link.pause;
}

void give_up_link(turn& t, rank peer, link_entry& link, errc code, const std::string& cause) {
  drop_lanes(t, link);
  link.phase = link_phase::idle;
  link.retry_at = never;
  link.incoming_until = never;
  link.wanted_until = never;
  if (!link.wanted) return;
  link.wanted = false;
  const auto address = t.state.book.contains(peer) ? t.state.book.at(peer).address : lane_address{};
  emit(t, report_unreachable{peer, error{code, link.last_cause.native, peer},
                             "phase link: " + describe(peer, address) + ": " + cause});
}

void establish(link_entry& link) {
  link.phase = link_phase::established;
  link.generation = link.attempt;
  link.wanted = false;
  link.wanted_until = never;
  link.incoming_until = never;
  link.retry_at = never;
  link.refused_count = 0;
  link.pause = duration::zero();
}

// All lanes of the peer's dial are here and proved: it and we have the link.
void take_incoming(turn& t, rank peer, link_entry& link) {
  const auto lanes = std::move(link.lanes);
  link.lanes.clear();
  establish(link);
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    welcome(t, lanes[lane], connection_role::link);
    hand_over(t, lanes[lane], peer, static_cast<std::uint8_t>(lane), link);
  }
}

// The peer's dial ended before it was whole: ours starts if somebody here wants the link.
void abandon_incoming(turn& t, rank peer, link_entry& link) {
  TROUPE_MARK("bootstrap: incoming link ended half made");
  drop_lanes(t, link);
  link.incoming_until = never;
  link.phase = link_phase::idle;
  if (link.wanted) dial_lanes(t, peer, link);
}

// Why the peer's lane cannot be taken; `welcome` if it can.
handshake_status objection_to(turn& t, const hello_frame& hello, const link_entry& link,
                              std::uint64_t& detail) {
  const bool same_dial = link.phase == link_phase::incoming && link.instance == hello.link_instance;
  if (hello.lane_count != lane_count_of(t.state) || hello.lane >= hello.lane_count) {
    TROUPE_MARK("bootstrap: link with another number of lanes");
    detail = lane_count_of(t.state);
    return handshake_status::wrong_lanes;
  }
  if (same_dial)
    return link.lanes[hello.lane] == 0 ? handshake_status::welcome
                                       : handshake_status::wrong_purpose;
  detail = link.generation;
  if (hello.link_generation <= link.generation) {
    TROUPE_MARK("bootstrap: lane of an earlier link refused");
    return handshake_status::stale_link;
  }
  if (link.phase == link_phase::dialing && t.state.options.self < hello.dialer) {
    TROUPE_MARK("bootstrap: higher rank's dial superseded");
    return handshake_status::superseded;
  }
  return handshake_status::welcome;
}

}  // namespace

void hand_over(turn& t, std::uint64_t connection, rank peer, std::uint8_t lane,
               const link_entry& link) {
  emit(t, hand_over_lane{.connection = connection,
                         .peer = peer,
                         .lane = lane,
                         .lane_count = lane_count_of(t.state),
                         .link_instance = link.instance});
  t.state.connections.erase(connection);
}

void on_link_wanted(turn& t, rank peer) {
  auto& state = t.state;
  const bool is_rank = state.book.contains(peer) || is_newcomer(peer);
  if (state.phase != bootstrap_phase::joined || !is_rank || peer == state.options.self ||
      is_dead(state, peer)) {
    TROUPE_MARK("bootstrap: link wanted that cannot be");
    const bool dead =
        state.phase == bootstrap_phase::joined && is_rank && peer != state.options.self;
    link_entry none;
    none.wanted = true;
    return give_up_link(t, peer, none, dead ? errc::peer_lost : errc::bad_argument,
                        dead ? "it ended" : "it is no other member of a world that was joined");
  }
  auto& link = state.links[peer.value];
  if (link.phase == link_phase::established || link.wanted) return;
  link.wanted = true;
  link.wanted_until = saturating_add(t.now, state.options.connect_timeout);
  link.refused_count = 0;
  link.pause = duration::zero();
  link.last_step = "did not answer";
  link.last_cause = {};
  if (link.phase == link_phase::idle) dial_lanes(t, peer, link);
}

void on_link_dropped(turn& t, const link_dropped& event) {
  const auto found = t.state.links.find(event.peer.value);
  if (found == t.state.links.end()) return;
  auto& link = found->second;
  if (event.link_instance != 0 && event.link_instance != link.instance) {
    TROUPE_MARK("bootstrap: an older link dropped");
    return;
  }
  if (link.phase == link_phase::established) {
    stop_rebuilding(t, link);
    link.phase = link_phase::idle;
    return;
  }
  // Not whole yet: what there is of it goes. The peer's own dial is no business of the dropper.
  if (link.phase == link_phase::incoming) return;
  link.wanted = false;
  give_up_link(t, event.peer, link, errc::aborted, "dropped");
}

void admit_lane(turn& t, std::uint64_t connection) {
  auto* c = find_connection(t, connection);
  TROUPE_ASSERT(c != nullptr);
  const auto hello = c->shake.hello;
  const auto peer = hello.dialer;
  auto& state = t.state;
  const bool is_rank = peer.value < state.options.world_size || is_newcomer(peer);
  if (!is_rank || peer == state.options.self || is_dead(state, peer)) {
    TROUPE_MARK("bootstrap: link from no member");
    return turn_away(t, connection, handshake_status::not_a_member, 0);
  }
  c->role = connection_role::link;
  c->stage = connection_stage::held;
  c->deadline = never;
  if (state.phase != bootstrap_phase::joined) {
    // The peer has the whole book and we have not: it waits for our answer, at most as long as it
    // waits for any link.
    TROUPE_MARK("bootstrap: link before this rank has joined");
    return;
  }
  auto& link = state.links[peer.value];
  std::uint64_t detail = 0;
  const auto objection = objection_to(t, hello, link, detail);
  if (objection != handshake_status::welcome) return turn_away(t, connection, objection, detail);
  if (link.phase != link_phase::incoming || link.instance != hello.link_instance) {
    if (link.phase == link_phase::dialing) TROUPE_MARK("bootstrap: own dial gives way");
    if (link.phase == link_phase::established) TROUPE_MARK("bootstrap: peer replaces the link");
    if (link.phase == link_phase::incoming) TROUPE_MARK("bootstrap: peer dials the link again");
    drop_lanes(t, link);
    link.phase = link_phase::incoming;
    link.attempt = hello.link_generation;
    link.instance = hello.link_instance;
    link.lanes.assign(lane_count_of(state), 0);
    link.retry_at = never;
    link.incoming_until = saturating_add(t.now, state.options.connect_timeout);
  }
  link.lanes[hello.lane] = connection;
  if (++link.ready_count == lane_count_of(state)) take_incoming(t, peer, link);
}

void admit_held_lanes(turn& t) {
  std::vector<std::uint64_t> held;
  for (const auto& [id, c] : t.state.connections)
    if (c.stage == connection_stage::held) held.push_back(id);
  for (const auto id : held)
    if (find_connection(t, id) != nullptr) admit_lane(t, id);
}

void on_lane_welcomed(turn& t, std::uint64_t connection) {
  const auto* c = find_connection(t, connection);
  TROUPE_ASSERT(c != nullptr);
  const auto peer = c->peer;
  const auto lane = c->shake.hello.lane;
  auto& link = t.state.links[peer.value];
  // The peer answers when it has all lanes, so the link stands from the first answer on. Its
  // messages may follow at once: the lane cannot wait here for the others.
  hand_over(t, connection, peer, lane, link);
  link.lanes[lane] = 0;
  link.generation = link.attempt;
  if (++link.ready_count < lane_count_of(t.state)) return;
  link.lanes.clear();
  link.ready_count = 0;
  establish(link);
}

void on_lane_ended(turn& t, const connection_end& end) {
  const auto found = t.state.links.find(end.peer.value);
  if (found == t.state.links.end()) return;
  auto& link = found->second;
  const auto lane = std::find(link.lanes.begin(), link.lanes.end(), end.connection);
  if (lane == link.lanes.end()) return;
  *lane = 0;
  if (!is_dialled(end.connection)) return abandon_incoming(t, end.peer, link);
  const bool refused = end.status != handshake_status::welcome;
  link.last_cause = end.cause;
  link.last_step = refused ? to_string(end.status) : end.step;
  if (link.ready_count != 0) {
    TROUPE_MARK("bootstrap: link lost half handed over");
    return give_up_link(t, end.peer, link, errc::peer_lost,
                        "the link broke while it was made: it " + std::string(link.last_step));
  }
  if (end.status == handshake_status::superseded) {
    TROUPE_MARK("bootstrap: wait for the peer's dial instead");
    drop_lanes(t, link);
    link.phase = link_phase::superseded;
    return;
  }
  if (end.status == handshake_status::stale_link) {
    TROUPE_MARK("bootstrap: peer knows of a newer link");
    link.generation = std::max(link.generation, static_cast<std::uint32_t>(end.detail));
    return pause_link(t, link);
  }
  link.refused_count = end.never_opened ? link.refused_count + 1 : 0;
  const bool own = is_own_failure(end.cause);
  const bool hopeless = own || link.refused_count >= refusals_max;
  if (!refused && end.believed && !hopeless) return pause_link(t, link);
  const auto code = own                                            ? end.cause.code
                    : end.status == handshake_status::not_a_member ? errc::evicted
                    : !end.believed                                ? errc::authentication_failed
                    : refused                                      ? errc::membership_conflict
                                                                   : errc::unreachable;
  give_up_link(t, end.peer, link, code, link.last_step + describe(link.last_cause));
}

void end_link(turn& t, rank peer, errc code, const std::string& cause) {
  const auto found = t.state.links.find(peer.value);
  if (found != t.state.links.end()) give_up_link(t, peer, found->second, code, cause);
}

void run_link_deadlines(turn& t) {
  for (auto& [value, link] : t.state.links) {
    const rank peer{value};
    if (link.incoming_until <= t.now) {
      TROUPE_MARK("bootstrap: incoming link not whole in time");
      link.incoming_until = never;
      if (link.phase == link_phase::incoming) abandon_incoming(t, peer, link);
    }
    if (link.wanted && link.wanted_until <= t.now) {
      TROUPE_MARK("bootstrap: link deadline passed");
      const bool refused = link.last_cause.code == errc::unreachable;
      give_up_link(t, peer, link, refused ? errc::unreachable : errc::timed_out,
                   "not connected within " + describe(t.state.options.connect_timeout) + ": it " +
                       link.last_step + describe(link.last_cause));
      continue;
    }
    if (link.retry_at <= t.now) dial_lanes(t, peer, link);
  }
}

}  // namespace troupe::net::detail
