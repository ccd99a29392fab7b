#pragma once

#include <poll.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "net/shm/shm_network.hpp"
#include "runtime/buffer_table.hpp"

namespace troupe::net {

inline instant clock_now() {
  return instant(
      std::chrono::duration_cast<duration>(std::chrono::steady_clock::now().time_since_epoch()));
}

/// The name of endpoint `number` of a test whose main process is `process`.
inline lane_address test_address(::pid_t process, std::uint16_t number) {
  lane_address address;
  std::memcpy(address.host.data(), &process, sizeof process);
  address.port = number;
  return address;
}

/// An endpoint with exposed memory that remembers what its lanes said.
struct shm_node {
  explicit shm_node(const lane_address& address, const std::string& large_writes = "auto",
                    std::uint64_t memory_bytes = 4 << 20)
      : buffers(8), memory(memory_bytes) {
    shm_network_options options;
    options.address = address;
    options.memory.large_writes = large_writes;
    network = std::move(*shm_network::make(options, buffers));
    view = *buffers.add(memory.data(), memory.size());
    key = *buffers.expose(view);
  }

  void poll() {
    std::array<network_event, 8> events;
    const auto count = network->poll(clock_now(), events);
    for (std::size_t i = 0; i < count; ++i) {
      auto& event = events[i];
      if (event.opened) lanes.push_back(std::move(event.opened));
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
      const auto left = std::min(network->prepare_to_wait(), end) - now;
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

  bool has_lane(std::size_t count = 1) {
    return poll_until([&] { return lanes.size() >= count || dial_cause.code != errc::ok; }) &&
           lanes.size() >= count;
  }

  bool connect(const lane_address& to) {
    network->dial(to, lanes.size(), clock_now() + std::chrono::seconds(20));
    return has_lane(lanes.size() + 1);
  }

  void say(const std::string& text) {
    lanes.back()->post_message(std::as_bytes(std::span(text.data(), text.size())));
  }

  buffer_table buffers;
  std::vector<std::byte> memory;
  buffer_view view;
  std::uint64_t key = 0;
  std::unique_ptr<shm_network> network;
  std::vector<std::unique_ptr<lane>> lanes;
  std::map<lane_event::kind, std::size_t> totals;
  std::string messages;
  error last_cause{};
  error dial_cause{};
  std::size_t sleeps = 0;
};

}  // namespace troupe::net
