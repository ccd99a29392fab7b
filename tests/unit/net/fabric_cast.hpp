#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "net/fabric/fabric.hpp"

namespace troupe::net::test {

inline constexpr std::uint64_t memory_bytes = 1 << 16;

// One endpoint with a buffer that its peers may write.
struct node {
  explicit node(fabric& world, std::uint32_t number)
      : buffers(16), memory(memory_bytes), network(world.make_network(number, buffers)) {
    view = *buffers.add(memory.data(), memory.size());
    key = *buffers.expose(view);
  }

  buffer_table buffers;
  std::vector<std::byte> memory;
  buffer_view view;
  std::uint64_t key = 0;
  std::vector<lane_event> events;
  std::vector<std::vector<std::byte>> messages;
  std::vector<error> dial_failures;
  std::uint64_t arrived = 0;
  std::unique_ptr<lane_network> network;
  std::vector<std::unique_ptr<lane>> lanes;
};

struct cast {
  explicit cast(const fabric_options& options, std::uint32_t count) : world(options) {
    for (std::uint32_t i = 0; i < count; ++i)
      nodes.push_back(std::make_unique<node>(world, i));
  }

  void poll_lane(node& at, lane& polled) {
    std::array<lane_event, 16> events;
    std::size_t count = 0;
    do {
      count = polled.poll(events);
      for (std::size_t i = 0; i < count; ++i) {
        at.events.push_back(events[i]);
        if (events[i].what == lane_event::kind::message_arrived)
          at.messages.emplace_back(events[i].message.begin(), events[i].message.end());
        if (events[i].what == lane_event::kind::write_arrived) ++at.arrived;
      }
    } while (count != 0);
  }

  void poll_ready() {
    std::uint32_t endpoint = 0;
    while (world.take_ready(endpoint)) {
      auto& at = *nodes[endpoint];
      std::array<network_event, 8> events;
      for (std::size_t n = at.network->poll(world.now(), events); n != 0;
           n = at.network->poll(world.now(), events)) {
        for (std::size_t i = 0; i < n; ++i) {
          if (events[i].opened) at.lanes.push_back(std::move(events[i].opened));
          if (events[i].what == network_event::kind::dial_failed)
            at.dial_failures.push_back(events[i].cause);
          if (events[i].what == network_event::kind::lane_ready) poll_lane(at, *events[i].ready);
        }
      }
    }
  }

  void run() {
    do
      poll_ready();
    while (world.run_next());
  }

  void run_until(instant until) {
    while (world.next_event() <= until) {
      world.run_next();
      poll_ready();
    }
    world.run_until(until);
    poll_ready();
  }

  void dial(std::uint32_t from, std::uint32_t to, instant deadline = never) {
    nodes[from]->network->dial(fabric::address_of(to), 7, deadline);
  }

  // Opens a lane and returns the dialler's end; the other is the acceptor's newest.
  lane& connect(std::uint32_t from, std::uint32_t to) {
    dial(from, to);
    run();
    return *nodes[from]->lanes.back();
  }

  post_status write(std::uint32_t from, lane& on, std::uint32_t to, std::uint64_t bytes,
                    std::uint64_t at = 0) {
    return on.post_write({.source = nodes[from]->view.part(at, bytes),
                          .target = {nodes[to]->key, at},
                          .immediate = 1,
                          .context = at});
  }

  std::size_t count(std::uint32_t at, lane_event::kind what) const {
    std::size_t found = 0;
    for (const auto& event : nodes[at]->events)
      found += event.what == what ? 1 : 0;
    return found;
  }

  fabric world;
  std::vector<std::unique_ptr<node>> nodes;
};

}  // namespace troupe::net::test
