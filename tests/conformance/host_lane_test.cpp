#define BOOST_TEST_MODULE conformance_host_lane
#include <boost/test/unit_test.hpp>

#include "tests/conformance/lane_cases.hpp"
#include "tests/conformance/lane_worlds.hpp"

namespace troupe::conformance {

// Two endpoints of this host that prefer shared memory and listen on sockets, too: nobody and
// silence are met on sockets, after shared memory was tried.
BOOST_AUTO_TEST_SUITE(preferring_memory)
#define TROUPE_TEST_CASE(name)                                                   \
  BOOST_AUTO_TEST_CASE(name) {                                                   \
    tcp_lane_world world("127.0.0.1", std::chrono::seconds(20), lane_kind::shm); \
    BOOST_TEST(conformance::name(world) == "");                                  \
  }
TROUPE_LANE_CASES(TROUPE_TEST_CASE)
#undef TROUPE_TEST_CASE
BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::conformance
