#include <algorithm>

#include "runtime/assert.hpp"
#include "tests/sim/net/bootstrap_world.hpp"

// What the owners of links do with the lanes that they are given.
namespace troupe::sim {

using namespace troupe::net;

void bootstrap_world::hand_over(std::uint32_t process, const hand_over_lane& effect) {
  auto& p = *processes_[process];
  // A new link to the peer replaces the one before.
  std::vector<std::uint64_t> older;
  for (const auto& lane : p.lanes)
    if (lane.up && lane.peer == effect.peer && lane.instance != effect.link_instance)
      older.push_back(lane.instance);
  for (const auto instance : older)
    drop_link(process, effect.peer, instance);
  // A rebuilt lane may come before the end of the one whose place it takes was noticed.
  for (auto& lane : p.lanes) {
    if (!lane.up || lane.peer != effect.peer || lane.lane != effect.lane) continue;
    lane.up = false;
    detach(lane.wire, wires_[lane.wire].ends[0].process == process ? 0 : 1, false);
  }
  for (const auto& [known, index] : wire_of_[process]) {
    if (known != effect.connection) continue;
    // What bootstrap keeps for itself is a socket, what it hands over is what carries data.
    TROUPE_ASSERT(wires_[index].is_lane);
    p.lanes.push_back({.wire = index,
                       .peer = effect.peer,
                       .lane = effect.lane,
                       .lane_count = effect.lane_count,
                       .instance = effect.link_instance});
  }
}

void bootstrap_world::drop_link(std::uint32_t process, rank peer, std::uint64_t instance) {
  auto& p = *processes_[process];
  bool any = false;
  for (auto& lane : p.lanes) {
    if (!lane.up || lane.peer != peer || (instance != 0 && lane.instance != instance)) continue;
    lane.up = false;
    any = true;
    const std::uint8_t end = wires_[lane.wire].ends[0].process == process ? 0 : 1;
    detach(lane.wire, end, false);
  }
  if (!any || instance == 0) return;
  at(now_, [this, process, peer, instance] { feed(process, link_dropped{peer, instance}); });
}

void bootstrap_world::lose_lane(std::uint32_t process, handed_lane& lane) {
  const auto& lanes = processes_[process]->lanes;
  const auto others = std::count_if(lanes.begin(), lanes.end(), [&](const handed_lane& each) {
    return each.up && each.peer == lane.peer && each.instance == lane.instance;
  });
  if (!links_kept_ || others == 1) return drop_link(process, lane.peer, lane.instance);
  lane.up = false;
  deliver(process, lane_wanted{lane.peer, lane.lane});
}

void bootstrap_world::end_link(std::uint32_t process, rank peer) {
  for (const auto& lane : processes_[process]->lanes)
    if (lane.up && lane.peer == peer) return drop_link(process, peer, lane.instance);
}

void bootstrap_world::break_lane(std::uint32_t process, rank peer) {
  std::vector<std::uint32_t> wires;
  for (const auto& lane : processes_[process]->lanes)
    if (lane.up && lane.peer == peer) wires.push_back(lane.wire);
  if (!wires.empty()) cut_wire(wires[random_.below(wires.size())]);
}

void bootstrap_world::break_link(std::uint32_t process, rank peer) {
  for (const auto& lane : processes_[process]->lanes) {
    if (!lane.up || lane.peer != peer) continue;
    return cut_wire(lane.wire);
  }
}

}  // namespace troupe::sim
