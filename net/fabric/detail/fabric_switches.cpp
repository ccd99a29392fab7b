#include <algorithm>
#include <utility>

#include "net/fabric/detail/fabric_world.hpp"
#include "runtime/assert.hpp"

namespace troupe::net::detail {

std::uint32_t fabric_world::add_port(std::uint64_t bytes_per_second) {
  TROUPE_ASSERT(bytes_per_second >= 1'000'000);
  ports_.emplace_back(bytes_per_second);
  ports_.back().watch_from(now_);
  return static_cast<std::uint32_t>(ports_.size() - 1);
}

void fabric_world::set_routes(fabric::route_choice choose) {
  choose_ = std::move(choose);
  each_half([this](std::uint32_t half) { choose_way(half); });
}

void fabric_world::watch_ports_anew() {
  for (auto& port : ports_)
    port.watch_from(now_);
}

void fabric_world::choose_way(std::uint32_t half) {
  auto& entry = at(half);
  entry.way = no_index;
  if (!choose_) return;
  const auto route = choose_(entry.endpoint, at(half ^ 1u).endpoint, half >> 1);
  TROUPE_ASSERT(route.port_count <= fabric_route_ports_max);
  if (route.port_count == 0) return;
  for (std::uint32_t i = 0; i < route.port_count; ++i)
    TROUPE_ASSERT(route.ports[i] < ports_.size());
  entry.way = static_cast<std::uint32_t>(ways_.size());
  ways_.push_back(route);
}

void fabric_world::set_out(std::uint32_t half, std::uint32_t frame, instant head, instant tail) {
  auto& entry = frames_[frame];
  entry.arrival = never;
  entry.half = half;
  entry.way = at(half).way;
  entry.passage = next_passage_++;
  leave_port(frame, head, tail);
}

// The frame left its sender, or a port: on to the next, or to the receiver.
void fabric_world::leave_port(std::uint32_t frame, instant head, instant tail) {
  auto& entry = frames_[frame];
  const auto& way = ways_[entry.way];
  const auto link = way.latency / (way.port_count + 1);
  entry.head = head + link;
  entry.tail = tail + link;
  if (entry.ports_passed < way.port_count) {
    plan(entry.head, event_kind::port_reached, frame, entry.passage);
    return;
  }
  auto& sender = at(entry.half);
  entry.arrival = std::max(entry.tail, sender.last_arrival);
  sender.last_arrival = entry.arrival;
  plan_arrival(entry.half);
}

void fabric_world::on_port_reached(std::uint32_t frame) {
  auto& entry = frames_[frame];
  auto& port = ports_[ways_[entry.way].ports[entry.ports_passed++]];
  const auto passed = port.pass(entry.bytes + fabric_frame_overhead_bytes, entry.head, entry.tail);
  leave_port(frame, passed.head, passed.tail);
}

// An acknowledgement is small: it waits in no queue.
void fabric_world::send_back(std::uint32_t half, std::uint32_t write, std::uint32_t completion) {
  auto& entry = frames_[completion];
  entry.half = half;
  entry.passage = wires_[half >> 1].generation;
  plan(now_ + ways_[frames_[write].way].latency, event_kind::completion_back, completion, 0);
}

void fabric_world::on_completion_back(std::uint32_t completion) {
  const auto half = frames_[completion].half;
  const bool same_lane = wires_[half >> 1].generation == frames_[completion].passage;
  if (!same_lane || at(half).closed || at(half).lost) return free_frame(completion);
  append(at(half).in, completion);
  make_ready(half);
}

}  // namespace troupe::net::detail
