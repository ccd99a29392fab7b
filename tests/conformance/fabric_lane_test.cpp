#define BOOST_TEST_MODULE conformance_fabric_lane
#include <boost/test/unit_test.hpp>

#include "tests/conformance/lane_cases.hpp"
#include "tests/conformance/lane_worlds.hpp"

namespace troupe::conformance {

// Completed as soon as the wire has the bytes, as sockets do.
BOOST_AUTO_TEST_SUITE(buffered)
#define TROUPE_TEST_CASE(name)                  \
  BOOST_AUTO_TEST_CASE(name) {                  \
    fabric_lane_world world;                    \
    BOOST_TEST(conformance::name(world) == ""); \
  }
TROUPE_LANE_CASES(TROUPE_TEST_CASE)
#undef TROUPE_TEST_CASE
BOOST_AUTO_TEST_SUITE_END()

// Completed when the bytes are in place, as acknowledged writes of a NIC do.
BOOST_AUTO_TEST_SUITE(acknowledged)
#define TROUPE_TEST_CASE(name)                      \
  BOOST_AUTO_TEST_CASE(name) {                      \
    net::fabric_options options;                    \
    options.wire_buffer_bytes = 0;                  \
    options.jitter = std::chrono::microseconds(20); \
    fabric_lane_world world(options);               \
    BOOST_TEST(conformance::name(world) == "");     \
  }
TROUPE_LANE_CASES(TROUPE_TEST_CASE)
#undef TROUPE_TEST_CASE
BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::conformance
