#define BOOST_TEST_MODULE conformance_huge_write
#include <boost/test/unit_test.hpp>

#include "tests/conformance/lane_cases.hpp"
#include "tests/conformance/lane_worlds.hpp"

namespace troupe::conformance {

BOOST_AUTO_TEST_CASE(a_fabric_write_of_more_than_4_gib_arrives_whole) {
  fabric_lane_world world;
  BOOST_TEST(a_write_of_more_than_4_gib_arrives_whole(world) == "");
}

BOOST_AUTO_TEST_CASE(a_shm_write_of_more_than_4_gib_arrives_whole) {
  for (const auto* large_writes : {"auto", "pull", "ring"}) {
    shm_lane_world world(large_writes, std::chrono::seconds(100));
    BOOST_TEST(a_write_of_more_than_4_gib_arrives_whole(world) == "", large_writes);
  }
}

BOOST_AUTO_TEST_CASE(a_tcp_write_of_more_than_4_gib_arrives_whole) {
  tcp_lane_world world("127.0.0.1", std::chrono::seconds(100));
  BOOST_TEST(a_write_of_more_than_4_gib_arrives_whole(world) == "");
}

}  // namespace troupe::conformance
