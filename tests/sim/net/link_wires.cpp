#include <algorithm>

#include "tests/sim/net/link_world.hpp"

namespace troupe::sim {

using kind = happening::kind;
using std::chrono::microseconds;
using std::chrono::milliseconds;

duration link_world::delay() {
  const auto& t = plan_.faults;
  const auto slow = t.slow_one_in != 0 && net_.one_in(t.slow_one_in);
  const auto longest = slow ? t.slow_delay_max : t.delay_max;
  return t.delay_min + duration(static_cast<std::int64_t>(net_.below(
                           static_cast<std::uint64_t>((longest - t.delay_min).count()) + 1)));
}

wire* link_world::wire_of(side_index side, std::uint8_t lane) {
  const auto index = owners_[side].current_wire[lane];
  return index == no_wire ? nullptr : &wires_[index];
}

void link_world::add_wire(std::uint8_t lane, instant now) {
  ++lives_;
  wire w;
  w.lane = lane;
  w.depth = plan_.link.lane_depth + static_cast<std::uint32_t>(net_.below(3));
  const auto index = static_cast<std::uint32_t>(wires_.size());
  wires_.push_back(std::move(w));
  const bool half = !healed_ && plan_.faults.one_sided_openings && faults_.one_in(4);
  const auto only = static_cast<side_index>(faults_.below(2));
  for (side_index side : {0u, 1u}) {
    if (half && side != only) continue;
    schedule(now + delay(), {.what = kind::open_end, .side = side, .wire = index});
  }
  if (half) {
    wires_[index].closed[1 - only] = true;
    wires_[index].black[only] = true;
    if (faults_.one_in(2)) {
      schedule(now + milliseconds(1), {.what = kind::fail_end, .side = only, .wire = index});
    }
  }
}

void link_world::open_end(const happening& h) {
  auto& w = wires_[h.wire];
  if (w.closed[h.side]) return;
  auto& current = owners_[h.side].current_wire[w.lane];
  if (current != no_wire && current > h.wire) {  // a later life came first
    w.closed[h.side] = true;
    return;
  }
  if (current != no_wire) wires_[current].closed[h.side] = true;
  current = h.wire;
  w.opened[h.side] = true;
  drive(h.side, net::lane_opened{w.lane, w.depth});
}

// The link closed its end, or is told that it failed: nothing more is read or written here.
void link_world::fail_end(const happening& h) {
  auto& w = wires_[h.wire];
  if (w.closed[h.side]) return;
  if (!w.opened[h.side]) {
    w.closed[h.side] = true;
    return;
  }
  if (owners_[h.side].current_wire[w.lane] != h.wire) return;
  drive(h.side, net::lane_failed{w.lane, {errc::peer_lost, 104}});
}

void link_world::on_close(side_index side, std::uint8_t lane) {
  if (lane >= owners_[side].current_wire.size()) return;
  auto& current = owners_[side].current_wire[lane];
  if (current == no_wire) return;
  const auto index = current;
  current = no_wire;
  auto& w = wires_[index];
  w.closed[side] = true;
  // What left before may still arrive, up to some point.
  auto& flow = w.flow[side];
  const auto cut = net_.below(flow.size() + 1);
  for (std::size_t i = 0; i < flow.size(); ++i) {
    if (!flow[i].read || i >= cut) flow[i].gone = true;
  }
  const auto other = 1 - side;
  if (!w.closed[other] && !w.black[side]) {
    const auto at = std::max(now_, w.last_arrival[side]) + delay();
    schedule(at, {.what = kind::fail_end, .side = other, .wire = index});
  }
  const bool early = !healed_ && plan_.faults.early_reopenings && faults_.one_in(2);
  if (w.closed[other] || early) {
    schedule(now_ + delay() + microseconds(net_.below(3000)), {.what = kind::reopen, .item = lane});
  }
}

void link_world::reopen(std::uint8_t lane) {
  if (owners_[0].lost || owners_[1].lost || owners_[1].crashed) return;
  // Somebody has it open: a new life only for a trouble maker.
  const bool in_use = owners_[0].current_wire[lane] != no_wire &&
                      owners_[1].current_wire[lane] != no_wire &&
                      owners_[0].current_wire[lane] == owners_[1].current_wire[lane];
  const auto newest =
      std::find_if(wires_.rbegin(), wires_.rend(), [&](const wire& w) { return w.lane == lane; });
  const bool opening = newest != wires_.rend() && ((!newest->opened[0] && !newest->closed[0]) ||
                                                   (!newest->opened[1] && !newest->closed[1]));
  if (in_use || opening) return;
  add_wire(lane, now_);
}

void link_world::break_wire(std::uint32_t wire_index) {
  auto& w = wires_[wire_index];
  w.broken = true;
  for (side_index side : {0u, 1u}) {
    auto& flow = w.flow[side];
    const auto cut = net_.below(flow.size() + 1);
    for (std::size_t i = 0; i < flow.size(); ++i) {
      // Beyond the cut a write may have landed without anybody being told; here: it did not.
      if (i >= cut || !flow[i].read) flow[i].gone = true;
    }
    const auto at =
        std::max(now_, w.last_arrival[1 - side]) + delay() + microseconds(net_.below(2000));
    schedule(at, {.what = kind::fail_end, .side = side, .wire = wire_index});
  }
}

void link_world::cause_fault() {
  std::vector<std::uint32_t> up;
  for (std::uint8_t lane = 0; lane <= plan_.link.data_lane_count; ++lane) {
    const auto index = owners_[0].current_wire[lane];
    if (index != no_wire && index == owners_[1].current_wire[lane] && !wires_[index].broken &&
        !wires_[index].black[0] && !wires_[index].black[1]) {
      up.push_back(index);
    }
  }
  // The last lane is spared: losing it loses the peer, which crashes are for.
  if (up.size() < 2) return;
  const auto chosen = up[faults_.below(up.size())];
  auto& w = wires_[chosen];
  if (plan_.faults.black_holes && faults_.one_in(2)) {
    const auto side = static_cast<side_index>(faults_.below(2));
    w.black[side] = true;
    if (faults_.one_in(2)) w.black[1 - side] = true;
    return;
  }
  if (plan_.faults.breaks) break_wire(chosen);
}

void link_world::crash() {
  owners_[1].crashed = true;
  schedule(now_ + milliseconds(20), {.what = kind::abandon, .side = 0});
  for (std::uint32_t i = 0; i < wires_.size(); ++i) {
    auto& w = wires_[i];
    w.black[0] = w.black[1] = true;
    if (!plan_.faults.silent_crash) {
      schedule(now_ + delay() * 3, {.what = kind::fail_end, .side = 0, .wire = i});
    }
  }
}

void link_world::on_post(side_index side, const net::post_segment& e) {
  const auto* w = wire_of(side, e.lane);
  if (w == nullptr) return fail("a write posted on a closed lane");
  transit item;
  item.write = e.write;
  trace(e.write.immediate);
  launch(side, owners_[side].current_wire[e.lane], std::move(item));
}

void link_world::on_post(side_index side, const net::post_control& e) {
  const auto* w = wire_of(side, e.lane);
  if (w == nullptr) return fail("a message posted on a closed lane");
  transit item;
  item.is_message = true;
  item.bytes.assign(e.bytes().begin(), e.bytes().end());
  for (const auto b : item.bytes)
    trace(std::to_integer<std::uint64_t>(b));
  launch(side, owners_[side].current_wire[e.lane], std::move(item));
}

void link_world::launch(side_index side, std::uint32_t wire_index, transit item) {
  auto& w = wires_[wire_index];
  auto& in_flight = item.is_message ? w.messages_in_flight[side] : w.writes_in_flight[side];
  if (++in_flight > w.depth && !w.black[side] && !w.broken) return fail("a lane beyond its depth");
  const auto& t = plan_.faults;
  const bool write = !item.is_message;
  item.gone = w.black[side] || w.broken;
  const bool lone = write && !healed_ && t.fault_count > 0;
  if (lone && t.lost_writes && faults_.one_in(200)) item.gone = true;
  const bool never_completes =
      (lone && t.lost_completions && faults_.one_in(100)) || (w.black[side] && net_.one_in(2));
  const auto index = w.flow[side].size();
  w.flow[side].push_back(std::move(item));

  const auto read_at = now_ + delay() / 2;
  const auto at = std::max(read_at + delay(), w.last_arrival[side] + duration(1));
  w.last_arrival[side] = at;
  schedule(read_at, {.what = kind::read, .side = side, .wire = wire_index, .item = index});
  schedule(at, {.what = kind::arrive, .side = side, .wire = wire_index, .item = index});
  if (write && !never_completes) {
    schedule(read_at + delay(),
             {.what = kind::complete, .side = side, .wire = wire_index, .item = index});
  }
}

// The sending lane takes the bytes out of the source.
void link_world::read(const happening& h) {
  auto& w = wires_[h.wire];
  auto& item = w.flow[h.side][h.item];
  if (item.read || w.closed[h.side]) return;
  if (owners_[h.side].crashed) {
    item.gone = true;
    return;
  }
  item.read = true;
  if (item.is_message) return;
  const auto* from = owners_[h.side].buffers.resolve(item.write.source);
  if (from == nullptr) return fail("a write from a source that is gone");
  check_source(h.side, item.write.source);
  item.bytes.assign(from, from + item.write.source.bytes);
}

void link_world::complete(const happening& h) {
  auto& w = wires_[h.wire];
  auto& item = w.flow[h.side][h.item];
  if (w.closed[h.side] || owners_[h.side].current_wire[w.lane] != h.wire || item.completed) return;
  item.completed = true;
  --w.writes_in_flight[h.side];
  drive(h.side, net::write_finished{w.lane, item.write.context});
  const auto one_in = plan_.faults.duplicate_one_in;
  if (!over() && one_in != 0 && faults_.one_in(one_in) &&
      owners_[h.side].current_wire[wires_[h.wire].lane] == h.wire) {
    const auto context = wires_[h.wire].flow[h.side][h.item].write.context;
    drive(h.side, net::write_finished{wires_[h.wire].lane, context});
  }
}

void link_world::arrive(const happening& h) {
  auto& w = wires_[h.wire];
  const auto to = 1 - h.side;
  auto& item = w.flow[h.side][h.item];
  if (item.gone || item.arrived || w.closed[to] || !item.read) return;
  if (!w.opened[to]) {  // the other end is not there yet: everything waits for it, in order
    schedule(now_ + microseconds(5), h);
    return;
  }
  if (h.item > 0 && !w.flow[h.side][h.item - 1].arrived && !w.flow[h.side][h.item - 1].gone) {
    schedule(now_ + microseconds(5), h);
    return;
  }
  item.arrived = true;
  if (item.is_message) --w.messages_in_flight[h.side];
  const auto one_in = plan_.faults.duplicate_one_in;
  if (one_in != 0 && faults_.one_in(one_in)) {
    auto again = h;
    again.what = kind::repeat;
    schedule(now_ + delay() * 4, again);
  }
  deliver(to, w, item, false);
}

// The same event comes twice.
void link_world::repeat(const happening& h) {
  auto& w = wires_[h.wire];
  const auto to = 1 - h.side;
  if (w.closed[to] || owners_[to].current_wire[w.lane] != h.wire) return;
  deliver(to, w, w.flow[h.side][h.item], true);
}

void link_world::deliver(side_index side, const wire& w, transit& item, bool repeated) {
  auto& o = owners_[side];
  if (o.crashed) return;
  const auto lane = w.lane;
  if (item.is_message) {
    // A copy: the link may open and close lanes, which moves what `item` refers to.
    const auto bytes = item.bytes;
    return drive(side, net::message_received{lane, bytes});
  }
  const auto immediate = item.write.immediate;
  const auto length = item.write.source.bytes;
  auto* target = o.buffers.resolve(item.write.target, length);
  if (target != nullptr && !repeated) std::copy(item.bytes.begin(), item.bytes.end(), target);
  drive(side, net::write_received{lane, immediate, length, target == nullptr});
}

}  // namespace troupe::sim
