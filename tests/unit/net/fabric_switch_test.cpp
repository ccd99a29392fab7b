#define BOOST_TEST_MODULE fabric_switch
#include <array>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <vector>

#include "net/fabric/fabric.hpp"
#include "net/fabric/port_queue.hpp"

namespace troupe::net {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t gigabyte = 1'000'000'000;

instant at(duration since_start) {
  return instant{} + since_start;
}

// -- one port -------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(a_frame_cuts_through_a_port_that_is_free) {
  port_queue port(gigabyte);
  const auto passed = port.pass(1000, at(10us), at(11us));
  BOOST_TEST((passed.head == at(10us)));
  BOOST_TEST((passed.tail == at(11us)));
  BOOST_TEST(port.report(at(1ms)).queue_bytes_max == 0u);
}

BOOST_AUTO_TEST_CASE(a_frame_behind_another_waits_for_its_end) {
  port_queue port(gigabyte);
  port.pass(10'000, at(0us), at(1us));  // arrives ten times as fast as it leaves
  const auto passed = port.pass(1000, at(2us), at(3us));
  BOOST_TEST((passed.head == at(10us)));
  BOOST_TEST((passed.tail == at(11us)));
  BOOST_TEST(port.bytes_at(at(3us)) == 8000u);
  BOOST_TEST(port.report(at(3us)).queue_bytes_max == 9000u);
}

BOOST_AUTO_TEST_CASE(time_above_the_threshold_is_the_time_of_a_long_queue) {
  port_queue port(gigabyte);
  const auto bytes = 4 * fabric_queue_threshold_bytes;
  port.pass(bytes, at(0us), at(0us));
  const auto report = port.report(at(10ms));
  const auto expected = 3 * fabric_queue_threshold_bytes;  // nanoseconds at a byte a nanosecond
  BOOST_TEST(double(report.time_above.count()) > 0.7 * double(expected));
  BOOST_TEST(double(report.time_above.count()) < 1.1 * double(expected));
  BOOST_TEST((report.watched >= 10ms - 1us));
  BOOST_TEST(report.queue_bytes_p99 <= bytes);
  BOOST_TEST(double(report.queue_bytes_p99) > 0.7 * double(bytes));
}

BOOST_AUTO_TEST_CASE(a_port_watched_anew_forgets_what_was) {
  port_queue port(gigabyte);
  port.pass(1 << 20, at(0us), at(0us));
  port.watch_from(at(10ms));
  const auto report = port.report(at(20ms));
  BOOST_TEST(report.bytes == 0u);
  BOOST_TEST(report.queue_bytes_max == 0u);
  BOOST_TEST((report.time_above == 0ns));
}

// -- lanes through ports --------------------------------------------------------------------------

struct node {
  node(fabric& world, std::uint32_t number) : buffers(16), memory(1 << 16) {
    network = world.make_network(number, buffers);
    view = *buffers.add(memory.data(), memory.size());
    key = *buffers.expose(view);
  }

  buffer_table buffers;
  std::vector<std::byte> memory;
  buffer_view view;
  std::uint64_t key = 0;
  std::unique_ptr<lane_network> network;
  std::vector<std::unique_ptr<lane>> lanes;
  std::vector<std::pair<instant, lane_event::kind>> seen;
};

/// Two senders, 0 and 1, and a receiver, 2, behind one port.
struct star {
  star() : world({.bytes_per_second = gigabyte, .wire_buffer_bytes = 0}) {
    for (std::uint32_t i = 0; i < 3; ++i)
      nodes.push_back(std::make_unique<node>(world, i));
    port = world.add_port(gigabyte);
  }

  void route(duration latency) {
    world.set_routes([this, latency](auto, auto to, auto) {
      fabric_route way;
      way.latency = latency;
      if (to == 2) way.ports[way.port_count++] = port;
      return way;
    });
  }

  lane& connect(std::uint32_t from) {
    nodes[from]->network->dial(fabric::address_of(2), 0, never);
    run();
    return *nodes[from]->lanes.back();
  }

  void write(std::uint32_t from, lane& on, std::uint64_t bytes) {
    BOOST_REQUIRE(on.post_write({.source = nodes[from]->view.part(0, bytes),
                                 .target = {nodes[2]->key, 0}}) == post_status::accepted);
  }

  void poll() {
    std::uint32_t ready = 0;
    while (world.take_ready(ready)) {
      auto& n = *nodes[ready];
      std::array<network_event, 8> events;
      for (auto count = n.network->poll(world.now(), events); count != 0;
           count = n.network->poll(world.now(), events))
        for (std::size_t i = 0; i < count; ++i) {
          if (events[i].opened) n.lanes.push_back(std::move(events[i].opened));
          if (events[i].what != network_event::kind::lane_ready) continue;
          std::array<lane_event, 8> happened;
          for (auto k = events[i].ready->poll(happened); k != 0;
               k = events[i].ready->poll(happened))
            for (std::size_t e = 0; e < k; ++e)
              n.seen.emplace_back(world.now(), happened[e].what);
        }
    }
  }

  void run() {
    do
      poll();
    while (world.run_next());
  }

  fabric world;
  std::vector<std::unique_ptr<node>> nodes;
  std::uint32_t port = 0;
};

BOOST_AUTO_TEST_CASE(two_senders_share_the_port_of_their_receiver) {
  star s;
  s.route(30us);
  auto& a = s.connect(0);
  auto& b = s.connect(1);
  s.world.watch_ports_anew();
  const auto begin = s.world.now();
  s.write(0, a, 50'000);
  s.write(1, b, 50'000);
  s.run();
  const auto& seen = s.nodes[2]->seen;
  BOOST_REQUIRE(seen.size() == 2u);
  // 50 us to leave each sender at a byte a nanosecond; the port takes both one after the other.
  BOOST_TEST((seen[0].first - begin >= 80us && seen[0].first - begin < 81us));
  BOOST_TEST((seen[1].first - begin >= 130us && seen[1].first - begin < 131us));
  const auto report = s.world.report(s.port);
  BOOST_TEST(report.bytes == 2 * (50'000 + fabric_frame_overhead_bytes));
  BOOST_TEST(report.queue_bytes_max > 49'000u);
  BOOST_TEST(report.queue_bytes_max < 51'000u);
}

BOOST_AUTO_TEST_CASE(a_completion_comes_back_after_the_way_home) {
  star s;
  s.route(30us);
  auto& a = s.connect(0);
  const auto begin = s.world.now();
  s.write(0, a, 1000);
  s.run();
  BOOST_REQUIRE(s.nodes[0]->seen.size() == 1u);
  BOOST_TEST((s.nodes[0]->seen[0].second == lane_event::kind::write_completed));
  BOOST_TEST((s.nodes[0]->seen[0].first - s.nodes[2]->seen[0].first == 30us));
  BOOST_TEST((s.nodes[2]->seen[0].first - begin > 30us));
}

BOOST_AUTO_TEST_CASE(a_lane_that_is_closed_ends_behind_what_is_under_way) {
  star s;
  s.route(30us);
  auto& a = s.connect(0);
  BOOST_REQUIRE(a.post_message(std::array<std::byte, 4>{}) == post_status::accepted);
  a.close();
  s.run();
  BOOST_REQUIRE(s.nodes[2]->seen.size() == 2u);
  BOOST_TEST((s.nodes[2]->seen[0].second == lane_event::kind::message_arrived));
  BOOST_TEST((s.nodes[2]->seen[1].second == lane_event::kind::lane_lost));
}

BOOST_AUTO_TEST_CASE(new_routes_hold_for_lanes_that_are_open) {
  star s;
  s.route(30us);
  auto& a = s.connect(0);
  s.route(500us);
  const auto begin = s.world.now();
  s.write(0, a, 1000);
  s.run();
  BOOST_TEST((s.nodes[2]->seen[0].first - begin > 500us));
}

}  // namespace
}  // namespace troupe::net
