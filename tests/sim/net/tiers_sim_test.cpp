#define BOOST_TEST_MODULE tiers_sim
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "tests/sim/net/placed_world.hpp"

// Links with the limits of a distance tier on a network whose switches have queues.

namespace troupe::net {
namespace {

using namespace std::chrono_literals;

constexpr duration one_way = 75us;
constexpr std::uint64_t port_bytes_per_second = 50'000'000'000;
// What the path between two zones holds: 50 GB/s for a round trip of 150 us.
constexpr std::uint64_t path_bytes = 7'500'000;

place zone_of(std::uint32_t zone, std::uint32_t host) {
  const auto name = "z" + std::to_string(zone);
  return {"east", name, "r", name + "-" + std::to_string(host)};
}

/// Senders in zone 0, receivers in zone 1.
struct zones {
  explicit zones(const std::string& cap, std::uint32_t senders, std::uint32_t receivers,
                 std::uint64_t bytes = 2 * path_bytes, std::uint64_t seed = 1)
      : world(options(cap, bytes, seed), places(senders, receivers)) {
    for (std::uint32_t i = 0; i < senders + receivers; ++i)
      ports.push_back(world.wires().add_port(port_bytes_per_second));
    set_latency(one_way);
  }

  static placed_options options(const std::string& cap, std::uint64_t bytes, std::uint64_t seed) {
    placed_options out;
    out.seed = seed;
    out.bytes_per_second = port_bytes_per_second;
    out.limits.transport.data_lane_count = 4;
    out.limits.tier_cross_zone.cap = cap;
    out.limits.tier_cross_zone.bytes = bytes;
    out.limits.tier_cross_zone.segment_bytes = bytes / 8;
    return out;
  }

  static std::vector<place> places(std::uint32_t senders, std::uint32_t receivers) {
    std::vector<place> out;
    for (std::uint32_t i = 0; i < senders; ++i)
      out.push_back(zone_of(0, i));
    for (std::uint32_t i = 0; i < receivers; ++i)
      out.push_back(zone_of(1, i));
    return out;
  }

  void set_latency(duration latency) {
    world.wires().set_routes([this, latency](auto, auto to, auto) {
      fabric_route route;
      route.ports[route.port_count++] = ports[to];
      route.latency = latency;
      return route;
    });
  }

  placed_world world;
  std::vector<std::uint32_t> ports;
};

struct speeds {
  double before = 0;  ///< share of the port's rate
  double after = 0;
};

/// One sender; in the middle of it the path becomes `times` as long.
speeds lengthen(const std::string& cap, std::uint64_t bytes, int times) {
  zones z(cap, 1, 1, bytes);
  std::vector<placed_flow> flows{{0, 1, 192, never}};
  z.world.connect(flows);
  const auto port = z.ports[1];
  std::vector<std::uint64_t> passed{0};
  z.world.run(flows, 1ms, [&] {
    passed.push_back(z.world.wires().report(port).bytes);
    if (passed.size() == 21) z.set_latency(times * one_way);
  });
  const auto share = [&](std::size_t from, std::size_t to) {
    BOOST_REQUIRE(to < passed.size());
    return double(passed[to] - passed[from]) / (double(to - from) * 50'000'000);
  };
  return {share(10, 20), share(40, 60)};
}

BOOST_AUTO_TEST_CASE(a_budget_of_what_the_path_holds_loses_half_when_the_path_doubles) {
  const auto fixed = lengthen("fixed", path_bytes, 2);
  const auto adaptive = lengthen("adaptive", path_bytes, 2);
  BOOST_TEST_MESSAGE("fixed " << fixed.before << " -> " << fixed.after << ", adaptive "
                              << adaptive.before << " -> " << adaptive.after);
  BOOST_TEST(fixed.before > 0.9);
  BOOST_TEST(fixed.after < 0.6);
  BOOST_TEST(adaptive.before > 0.9);
  BOOST_TEST(adaptive.after > 0.9);
}

// The default budget has room for a path twice as long: there nothing is to be won.
BOOST_AUTO_TEST_CASE(the_default_budget_is_enough_for_twice_the_path_and_not_for_four_times) {
  BOOST_TEST(lengthen("fixed", 2 * path_bytes, 2).after > 0.9);
  BOOST_TEST(lengthen("adaptive", 2 * path_bytes, 2).after > 0.9);
  BOOST_TEST(lengthen("fixed", 2 * path_bytes, 4).after < 0.6);
  BOOST_TEST(lengthen("adaptive", 2 * path_bytes, 4).after > 0.8);
}

struct incast_result {
  std::uint64_t queue_bytes_max = 0;
  double goodput = 0;
  std::uint64_t leases = 0;
  std::uint64_t trace_hash = 0;
};

incast_result incast(const std::string& cap, std::uint32_t senders, std::uint64_t seed = 1) {
  zones z(cap, senders, 1, 2 * path_bytes, seed);
  std::vector<placed_flow> flows;
  for (std::uint32_t i = 0; i < senders; ++i)
    flows.push_back({i, senders, 4, never});
  z.world.connect(flows);
  z.world.wires().watch_ports_anew();
  const auto begin = z.world.wires().now();
  z.world.run(flows, 1ms, [] {});
  incast_result out;
  instant last = begin;
  for (const auto& flow : flows)
    last = std::max(last, flow.done_at);
  const auto report = z.world.wires().report(z.ports[senders]);
  out.queue_bytes_max = report.queue_bytes_max;
  out.goodput = double(senders * 4 * (16ull << 20)) / (double((last - begin).count()) * 50);
  out.leases = z.world.lease_requests();
  out.trace_hash = z.world.wires().trace_hash();
  return out;
}

BOOST_AUTO_TEST_CASE(adapting_windows_keep_the_queue_of_an_incast_short_and_the_port_busy) {
  const auto fixed = incast("fixed", 16);
  const auto adaptive = incast("adaptive", 16);
  BOOST_TEST_MESSAGE("queue fixed " << fixed.queue_bytes_max << ", adaptive "
                                    << adaptive.queue_bytes_max << "; goodput " << fixed.goodput
                                    << ", " << adaptive.goodput);
  BOOST_TEST(adaptive.queue_bytes_max * 4 < fixed.queue_bytes_max);
  BOOST_TEST(adaptive.goodput > 0.9);
}

// Eight segments of at least a page: leases are counted, segments are not.
BOOST_AUTO_TEST_CASE(leases_are_few_beside_the_bytes_that_they_allow) {
  for (const char* cap : {"fixed", "adaptive"})
    BOOST_TEST(incast(cap, 8).leases < 8u * 4 * 16, cap);
  BOOST_TEST(incast("off", 8).leases == 0u);
}

BOOST_AUTO_TEST_CASE(nothing_is_leased_when_nothing_is_sent) {
  for (const char* cap : {"fixed", "adaptive"}) {
    zones z(cap, 4, 2);
    std::vector<placed_flow> flows{
        {0, 4, 2, never}, {1, 4, 2, never}, {2, 5, 2, never}, {3, 5, 2, never}, {0, 5, 2, never}};
    z.world.connect(flows);
    z.world.run(flows, 1ms, [] {});
    z.world.rest(10ms);
    for (std::uint32_t i = 0; i < 6; ++i)
      BOOST_TEST(z.world.leased_bytes(i) == 0u, cap << ", endpoint " << i);
  }
}

BOOST_AUTO_TEST_CASE(the_same_seed_twice_gives_the_same_trace) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto once = incast("adaptive", 8, seed);
    BOOST_TEST(once.trace_hash == incast("adaptive", 8, seed).trace_hash);
  }
}

}  // namespace
}  // namespace troupe::net
