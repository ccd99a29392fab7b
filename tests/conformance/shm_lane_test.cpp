#define BOOST_TEST_MODULE conformance_shm_lane
#include <boost/test/unit_test.hpp>

#include "tests/conformance/lane_cases.hpp"
#include "tests/conformance/lane_worlds.hpp"

namespace troupe::conformance {

// Two ends in one process: large writes are copied directly.
BOOST_AUTO_TEST_SUITE(direct)
#define TROUPE_TEST_CASE(name)                  \
  BOOST_AUTO_TEST_CASE(name) {                  \
    shm_lane_world world("auto");               \
    BOOST_TEST(conformance::name(world) == ""); \
  }
TROUPE_LANE_CASES(TROUPE_TEST_CASE)
#undef TROUPE_TEST_CASE
BOOST_AUTO_TEST_SUITE_END()

// As between two processes: the system reads the sender's memory.
BOOST_AUTO_TEST_SUITE(pull)
#define TROUPE_TEST_CASE(name)                  \
  BOOST_AUTO_TEST_CASE(name) {                  \
    shm_lane_world world("pull");               \
    BOOST_TEST(conformance::name(world) == ""); \
  }
TROUPE_LANE_CASES(TROUPE_TEST_CASE)
#undef TROUPE_TEST_CASE
BOOST_AUTO_TEST_SUITE_END()

// As where that is not permitted.
BOOST_AUTO_TEST_SUITE(ring)
#define TROUPE_TEST_CASE(name)                  \
  BOOST_AUTO_TEST_CASE(name) {                  \
    shm_lane_world world("ring");               \
    BOOST_TEST(conformance::name(world) == ""); \
  }
TROUPE_LANE_CASES(TROUPE_TEST_CASE)
#undef TROUPE_TEST_CASE
BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::conformance
