#include "runtime/rank_dump.hpp"

#include <algorithm>

namespace troupe {

std::string_view to_string(operation_phase phase) {
  switch (phase) {
    case operation_phase::pending: return "pending";
    case operation_phase::current: return "current";
    case operation_phase::past: return "past";
  }
  return "invalid";
}

std::string_view to_string(endpoint_phase phase) {
  switch (phase) {
    case endpoint_phase::starting: return "starting";
    case endpoint_phase::joining: return "joining";
    case endpoint_phase::joined: return "joined";
    case endpoint_phase::failed: return "failed";
    case endpoint_phase::leaving: return "leaving";
    case endpoint_phase::left: return "left";
  }
  return "invalid";
}

std::string_view to_string(incident_kind kind) {
  switch (kind) {
    case incident_kind::peer_lost: return "peer_lost";
    case incident_kind::lane_lost: return "lane_lost";
    case incident_kind::operation_failed: return "operation_failed";
    case incident_kind::stranger_refused: return "stranger_refused";
    case incident_kind::join_failed: return "join_failed";
    case incident_kind::actor_failed: return "actor_failed";
    case incident_kind::peer_silent: return "peer_silent";
  }
  return "invalid";
}

const communicator_report* rank_dump::find(communicator_id id) const {
  const auto found = std::find_if(communicators.begin(), communicators.end(),
                                  [&](const auto& c) { return c.id == id; });
  return found == communicators.end() ? nullptr : &*found;
}

rank rank_dump::to_world(communicator_id id, rank member) const {
  const auto* known = find(id);
  if (known == nullptr || to_index(member) >= known->size) return no_rank;
  return known->members.empty() ? member : known->members[to_index(member)];
}

}  // namespace troupe
