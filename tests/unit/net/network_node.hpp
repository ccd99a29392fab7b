#pragma once

#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/buffer_table.hpp"
#include "runtime/lane.hpp"

namespace troupe::net {

inline instant clock_now() {
  return instant(
      std::chrono::duration_cast<duration>(std::chrono::steady_clock::now().time_since_epoch()));
}

/// An endpoint with exposed memory that remembers what its lanes said. Whoever derives from it
/// opens `network` on `buffers`.
template <class Network>
struct network_node {
  explicit network_node(std::uint64_t memory_bytes) : buffers(8), memory(memory_bytes) {
    view = *buffers.add(memory.data(), memory.size());
    key = *buffers.expose(view);
  }

  void poll() {
    std::array<network_event, 8> events;
    const auto count = network->poll(clock_now(), events);
    for (std::size_t i = 0; i < count; ++i) {
      auto& event = events[i];
      if (event.opened) {
        event.opened->set_tag(lanes.size());
        lanes.push_back(std::move(event.opened));
      }
      if (event.what == network_event::kind::dial_failed) dial_cause = event.cause;
      if (event.what == network_event::kind::lane_ready) poll_lane(*event.ready);
    }
  }

  void poll_lane(lane& ready) {
    std::array<lane_event, 8> events;
    const auto count = ready.poll(events);
    for (std::size_t i = 0; i < count; ++i) {
      ++totals[events[i].what];
      if (events[i].what == lane_event::kind::lane_lost) last_cause = events[i].cause;
      if (events[i].what == lane_event::kind::message_arrived)
        messages.append(reinterpret_cast<const char*>(events[i].message.data()),
                        events[i].message.size());
    }
  }

  /// Sleeps as an endpoint does while nothing happens. False after `limit`.
  bool poll_until(const std::function<bool()>& done, duration limit = std::chrono::seconds(20)) {
    const auto end = clock_now() + limit;
    while (!done()) {
      poll();
      if (done()) return true;
      const auto now = clock_now();
      if (now > end) return false;
      const auto wake = std::min(saturating_add(now, longest_sleep), end);
      const auto left = std::min(network->prepare_to_wait(), wake) - now;
      if (left.count() <= 0) continue;
      pollfd entry{network->wait_descriptor(), POLLIN, 0};
      ++sleeps;
      const auto wait = std::chrono::ceil<std::chrono::milliseconds>(left).count();
      if (::poll(&entry, 1, static_cast<int>(wait)) == 0 && clock_now() > end) return done();
    }
    return true;
  }

  bool sees(lane_event::kind what, std::size_t count = 1) {
    return poll_until([&] { return totals[what] >= count; });
  }

  buffer_table buffers;
  std::vector<std::byte> memory;
  buffer_view view;
  std::uint64_t key = 0;
  std::unique_ptr<Network> network;
  std::vector<std::unique_ptr<lane>> lanes;
  std::map<lane_event::kind, std::size_t> totals;
  std::string messages;
  error last_cause{};
  error dial_cause{};
  std::size_t sleeps = 0;
  duration longest_sleep = std::chrono::hours(1);  ///< less where `done` waits for more than events
};

}  // namespace troupe::net
