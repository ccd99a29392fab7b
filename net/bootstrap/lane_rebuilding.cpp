#include <algorithm>

#include "net/bootstrap/detail/bootstrap_turn.hpp"

// Lanes that died of links that live. The lower rank of a pair dials the new one (a newcomer does,
// of two the higher one: its peer may not know where it is), again and again
// as long as the link stands: with longer and longer pauses, also between lanes that do not live
// long.
namespace troupe::net::detail {

namespace {

// A lane that lived this long did not die of what killed the one before it (chosen: four of the
// longest pauses).
constexpr duration lane_trial = 4 * longest_pause;

lane_rebuilding* find_rebuilding(turn& t, rank peer, std::uint64_t connection) {
  const auto found = t.state.links.find(peer.value);
  if (found == t.state.links.end()) return nullptr;
  auto& lanes = found->second.rebuilding;
  const auto lane = std::find_if(lanes.begin(), lanes.end(), [&](const lane_rebuilding& each) {
    return each.connection == connection;
  });
  return lane == lanes.end() ? nullptr : &*lane;
}

void dial_lane(turn& t, rank peer, link_entry& link, std::uint8_t lane) {
  auto& one = link.rebuilding[lane];
  one.retry_at = never;
  one.connection =
      dial_peer(t, {.role = connection_role::lane,
                    .peer = peer,
                    .to = t.state.book.at(peer).address,
                    .deadline = saturating_add(t.now, t.state.options.connect_timeout),
                    .hello = {.purpose = connection_purpose::lane,
                              .lane = lane,
                              .lane_count = static_cast<std::uint8_t>(link.rebuilding.size()),
                              .link_generation = link.generation,
                              .link_instance = link.instance}});
}

void pause(turn& t, lane_rebuilding& one) {
  one.pause = std::min(longest_pause, std::max(first_pause, 2 * one.pause));
  one.retry_at = saturating_add(t.now, one.pause);
}

}  // namespace

void on_lane_wanted(turn& t, const lane_wanted& event) {
  auto& state = t.state;
  const auto found = state.links.find(event.peer.value);
  const std::size_t lane_count = state.options.data_lane_count + std::size_t{1};
  if (state.phase != bootstrap_phase::joined || found == state.links.end() ||
      found->second.phase != link_phase::established || event.lane >= lane_count) {
    TROUPE_MARK("bootstrap: lane wanted of a link that is none");
    return;
  }
  const auto self = state.options.self;
  const bool higher_dials = is_newcomer(std::max(self, event.peer));
  if (higher_dials != (event.peer < self)) return;  // the peer dials
  auto& link = found->second;
  link.rebuilding.resize(lane_count);
  auto& one = link.rebuilding[event.lane];
  if (one.connection != 0 || one.retry_at != never) return;
  if (one.given_at != never && t.now - one.given_at < lane_trial)
    TROUPE_MARK("bootstrap: a rebuilt lane died young");
  else
    one.pause = duration::zero();
  // Not at once: where a whole peer dies its lanes die one after the other.
  pause(t, one);
}

void admit_rebuilt_lane(turn& t, std::uint64_t connection) {
  const auto* c = find_connection(t, connection);
  TROUPE_ASSERT(c != nullptr);
  const auto hello = c->shake.hello;
  const auto found = t.state.links.find(hello.dialer.value);
  const bool ours = t.state.phase == bootstrap_phase::joined && found != t.state.links.end() &&
                    found->second.phase == link_phase::established &&
                    found->second.instance == hello.link_instance &&
                    hello.lane <= t.state.options.data_lane_count;
  if (!ours) {
    TROUPE_MARK("bootstrap: lane of a link that is gone refused");
    return turn_away(t, connection, handshake_status::stale_link, 0);
  }
  welcome(t, connection, connection_role::lane);
  hand_over(t, connection, hello.dialer, hello.lane, found->second);
}

void on_rebuilt_lane_welcomed(turn& t, std::uint64_t connection) {
  const auto* c = find_connection(t, connection);
  TROUPE_ASSERT(c != nullptr);
  const auto peer = c->peer;
  const auto lane = c->shake.hello.lane;
  auto* one = find_rebuilding(t, peer, connection);
  if (one == nullptr) return drop_connection(t, connection);
  one->connection = 0;
  one->given_at = t.now;
  hand_over(t, connection, peer, lane, t.state.links.at(peer.value));
}

void on_rebuilt_lane_ended(turn& t, const connection_end& end) {
  auto* one = find_rebuilding(t, end.peer, end.connection);
  if (one == nullptr) return;
  one->connection = 0;
  if (end.status != handshake_status::welcome) {
    // The peer has this link no more: what is left of it here ends by itself.
    TROUPE_MARK("bootstrap: peer does not know the link of a lane");
    return;
  }
  pause(t, *one);
}

void stop_rebuilding(turn& t, link_entry& link) {
  // Taken out first: the end of one must not find the others.
  const auto lanes = std::move(link.rebuilding);
  link.rebuilding.clear();
  for (const auto& each : lanes)
    drop_connection(t, each.connection);
}

void run_rebuilding_deadlines(turn& t) {
  for (auto& [value, link] : t.state.links)
    for (std::size_t lane = 0; lane < link.rebuilding.size(); ++lane)
      if (link.rebuilding[lane].retry_at <= t.now)
        dial_lane(t, rank{value}, link, static_cast<std::uint8_t>(lane));
}

}  // namespace troupe::net::detail
