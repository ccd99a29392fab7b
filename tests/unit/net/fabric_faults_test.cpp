#define BOOST_TEST_MODULE net_fabric_faults
#include <boost/test/unit_test.hpp>

#include "tests/unit/net/fabric_cast.hpp"

namespace troupe::net::test {
namespace {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_CASE(wires_are_as_long_as_the_distance_between_places) {
  cast all({}, 4);
  all.world.set_wires(fabric_distance::same_host, {1us, 1'000'000'000'000});
  all.world.set_wires(fabric_distance::same_rack, {10us, 1'000'000'000'000});
  all.world.set_wires(fabric_distance::cross_data_center, {1ms, 1'000'000'000'000});
  all.world.set_place(0, {0, 0, 0, 0});
  all.world.set_place(1, {0, 0, 0, 0});
  all.world.set_place(2, {1, 0, 0, 0});
  all.world.set_place(3, {2, 1, 1, 1});
  const auto time_to = [&](std::uint32_t peer) {
    auto& sender = all.connect(0, peer);
    const auto start = all.world.now();
    all.write(0, sender, peer, 1);
    all.run();
    return all.world.now() - start;
  };
  BOOST_TEST((time_to(1) < 2us));
  const auto rack = time_to(2);
  BOOST_TEST((rack >= 10us && rack < 12us));
  BOOST_TEST((time_to(3) >= 1ms));
}

BOOST_AUTO_TEST_CASE(faults_of_an_endpoint_strike_what_it_sends_and_what_it_gets) {
  cast all({}, 3);
  auto& to_one = all.connect(0, 1);
  auto& from_one = *all.nodes[1]->lanes.back();
  auto& beside = all.connect(0, 2);
  fabric_faults faults;
  faults.longer = 5ms;
  all.world.set_endpoint_faults(1, faults);
  const auto start = all.world.now();
  all.write(0, to_one, 1, 1);
  all.write(1, from_one, 0, 1);
  all.write(0, beside, 2, 1);
  all.run_until(start + 1ms);
  BOOST_TEST(all.nodes[0]->arrived == 0u);
  BOOST_TEST(all.nodes[1]->arrived == 0u);
  BOOST_TEST(all.nodes[2]->arrived == 1u);
  all.run();
  BOOST_TEST(all.nodes[0]->arrived == 1u);
  BOOST_TEST(all.nodes[1]->arrived == 1u);
}

BOOST_AUTO_TEST_CASE(lost_frames_come_again_and_none_is_missing) {
  cast two({}, 2);
  auto& sender = two.connect(0, 1);
  fabric_faults faults;
  faults.lose_frame_one_in = 3;
  faults.retransmission = 1ms;
  two.world.set_faults(faults);
  const auto start = two.world.now();
  for (int i = 0; i < 30; ++i)
    two.write(0, sender, 1, 8, static_cast<std::uint64_t>(8 * i));
  two.run();
  BOOST_TEST(two.nodes[1]->arrived == 30u);
  BOOST_TEST((two.world.now() - start >= 1ms));
}

BOOST_AUTO_TEST_CASE(as_many_completions_are_lost_as_was_asked_for) {
  cast two({}, 2);
  auto& sender = two.connect(0, 1);
  two.world.lose_completions(0, 2);
  for (int i = 0; i < 5; ++i)
    two.write(0, sender, 1, 8);
  two.run();
  BOOST_TEST(two.nodes[1]->arrived == 5u);
  BOOST_TEST(two.count(0, lane_event::kind::write_completed) == 3u);
}

BOOST_AUTO_TEST_CASE(the_newest_lanes_are_lost_first) {
  cast two({}, 2);
  two.connect(0, 1);
  two.connect(1, 0);
  two.connect(0, 1);
  two.world.lose_newest_lanes(0, 1, 1);
  two.run();
  BOOST_TEST(two.count(0, lane_event::kind::lane_lost) == 1u);
  BOOST_TEST((two.write(0, *two.nodes[0]->lanes[2], 1, 8) == post_status::lost));
  BOOST_TEST((two.write(0, *two.nodes[0]->lanes[0], 1, 8) == post_status::accepted));
}

BOOST_AUTO_TEST_CASE(lanes_are_spread_over_planes_and_wait_or_die_with_their_port) {
  cast two({}, 2);
  two.world.set_planes(2);
  auto& over_0 = two.connect(0, 1);
  auto& over_1 = two.connect(0, 1);
  two.world.lose_port(1, 0);
  two.write(0, over_0, 1, 8);
  two.write(0, over_1, 1, 8);
  two.run_until(two.world.now() + 50ms);
  BOOST_TEST(two.nodes[1]->arrived == 1u);
  two.world.restore_port(1, 0);  // in time
  two.run();
  BOOST_TEST(two.nodes[1]->arrived == 2u);
  BOOST_TEST(two.count(0, lane_event::kind::lane_lost) == 0u);

  two.world.lose_port(1, 0);
  two.write(0, over_0, 1, 8);
  two.run();
  BOOST_TEST(two.count(0, lane_event::kind::lane_lost) == 1u);
  BOOST_TEST(two.nodes[1]->arrived == 2u);
  two.connect(0, 1);  // over the plane that is left
  BOOST_TEST(two.nodes[0]->lanes.size() == 3u);
}

BOOST_AUTO_TEST_CASE(a_dial_without_any_plane_meets_silence) {
  cast two({}, 2);
  two.world.lose_port(0, 0);
  two.dial(0, 1, two.world.now() + 10ms);
  two.run();
  BOOST_REQUIRE(two.nodes[0]->dial_failures.size() == 1u);
  BOOST_TEST((two.nodes[0]->dial_failures[0].code == errc::timed_out));
  two.world.restore_port(0, 0);
  two.connect(0, 1);
  BOOST_TEST(two.nodes[0]->lanes.size() == 1u);
}

}  // namespace
}  // namespace troupe::net::test
