#include "tests/conformance/lane_pair.hpp"

#include <algorithm>

#include "runtime/assert.hpp"

namespace troupe::conformance {

lane_pair::lane_pair(lane_world& world, std::uint64_t memory_bytes) : world_(world) {
  for (int side = 0; side < 2; ++side) {
    auto& entry = side_[side];
    entry.source.resize(memory_bytes);
    entry.target.assign(memory_bytes, untouched);
    fill_source(side, 0, 0, memory_bytes);
    entry.source_view = *world.buffers(side).add(entry.source.data(), memory_bytes);
    entry.target_view = *world.buffers(side).add(entry.target.data(), memory_bytes);
    entry.key = *world.buffers(side).expose(entry.target_view);
  }
}

lane_pair::~lane_pair() {
  for (int side = 0; side < 2; ++side) {
    side_[side].lanes.clear();
    withdraw(side);
    world_.buffers(side).release(side_[side].source_view.id);
    world_.buffers(side).release(side_[side].target_view.id);
  }
}

void lane_pair::restore_source(int side) {
  auto& entry = side_[side];
  entry.source_view = *world_.buffers(side).add(entry.source.data(), entry.source.size());
}

bool lane_pair::connect(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto dialled = side_[0].lanes.size();
    const auto accepted = side_[1].lanes.size();
    world_.network(0).dial(world_.network(1).address(), dialled, world_.now() + world_.patience());
    const bool stands = wait_until(
        [&] { return side_[0].lanes.size() > dialled && side_[1].lanes.size() > accepted; });
    if (!stands) return false;
  }
  return true;
}

void lane_pair::fill_source(int side, std::uint64_t text, std::uint64_t offset,
                            std::uint64_t bytes) {
  for (std::uint64_t i = 0; i < bytes; ++i)
    side_[side].source[offset + i] = pattern(text, i);
}

bool lane_pair::target_holds(int side, std::uint64_t text, std::uint64_t offset,
                             std::uint64_t bytes) const {
  for (std::uint64_t i = 0; i < bytes; ++i)
    if (side_[side].target[offset + i] != pattern(text, i)) return false;
  return true;
}

bool lane_pair::target_untouched(int side, std::uint64_t offset, std::uint64_t bytes) const {
  const auto first = side_[side].target.begin() + static_cast<std::ptrdiff_t>(offset);
  return std::all_of(first, first + static_cast<std::ptrdiff_t>(bytes),
                     [](std::byte b) { return b == untouched; });
}

lane_write lane_pair::write(int side, std::uint64_t offset, std::uint64_t bytes,
                            std::uint32_t immediate, std::uint64_t context) const {
  return {.source = side_[side].source_view.part(offset, bytes),
          .target = {side_[1 - side].key, offset},
          .immediate = immediate,
          .context = context};
}

bool lane_pair::pump() {
  bool happened = false;
  for (int side = 0; side < 2; ++side) {
    if (sleeps[side]) continue;
    std::array<network_event, 8> events;
    const auto count = world_.network(side).poll(world_.now(), events);
    for (std::size_t i = 0; i < count; ++i)
      take(side, events[i]);
    happened = happened || count != 0;
  }
  return happened;
}

void lane_pair::take(int side, network_event& event) {
  auto& entry = side_[side];
  if (event.what == network_event::kind::lane_ready) {
    const auto index = static_cast<std::size_t>(event.ready->tag());
    if (polls_one_event_per_announcement)
      poll_once(side, index, 1);
    else
      poll_dry(side, index);
    return;
  }
  if (event.opened) {
    event.opened->set_tag(entry.lanes.size());
    entry.lanes.push_back(std::move(event.opened));
    entry.logs.emplace_back();
  }
  if (event.what != network_event::kind::accepted) dial_events_.push_back(std::move(event));
}

void lane_pair::poll_dry(int side, std::size_t index) {
  while (side_[side].lanes[index] && poll_once(side, index, 8) != 0) {
  }
}

std::size_t lane_pair::poll_once(int side, std::size_t index, std::size_t events_max) {
  auto& entry = side_[side];
  std::array<lane_event, 8> events;
  TROUPE_ASSERT(entry.lanes[index] != nullptr);
  const auto count = entry.lanes[index]->poll(std::span(events).first(events_max));
  for (std::size_t i = 0; i < count; ++i) {
    const auto& event = events[i];
    ++entry.totals[static_cast<std::size_t>(event.what)];
    if (observer) observer(side, index, event);
    if (remembers)
      entry.logs[index].push_back({event.what,
                                   event.immediate,
                                   event.bytes,
                                   event.context,
                                   {event.message.begin(), event.message.end()},
                                   event.cause});
  }
  return count;
}

bool lane_pair::wait_until(const std::function<bool()>& done) {
  const auto deadline = world_.now() + world_.patience();
  while (!done()) {
    if (pump()) continue;
    if (world_.now() >= deadline) return false;
    world_.wait(deadline);
  }
  return true;
}

void lane_pair::be_quiet() {
  const auto until = world_.now() + world_.quiet();
  while (world_.now() < until) {
    if (!pump()) world_.wait(until);
  }
  while (pump()) {
  }
}

std::size_t lane_pair::count(int side, lane_event::kind what, std::size_t index) const {
  const auto& log = side_[side].logs[index];
  return static_cast<std::size_t>(std::count_if(
      log.begin(), log.end(), [&](const seen_event& event) { return event.what == what; }));
}

}  // namespace troupe::conformance
