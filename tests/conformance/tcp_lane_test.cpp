#define BOOST_TEST_MODULE conformance_tcp_lane
#include <boost/test/unit_test.hpp>

#include "tests/conformance/lane_cases.hpp"
#include "tests/conformance/lane_worlds.hpp"

namespace troupe::conformance {

BOOST_AUTO_TEST_SUITE(ipv4)
#define TROUPE_TEST_CASE(name)                  \
  BOOST_AUTO_TEST_CASE(name) {                  \
    tcp_lane_world world("127.0.0.1");          \
    BOOST_TEST(conformance::name(world) == ""); \
  }
TROUPE_LANE_CASES(TROUPE_TEST_CASE)
#undef TROUPE_TEST_CASE
BOOST_AUTO_TEST_SUITE_END()

namespace {

boost::test_tools::assertion_result has_ipv6(boost::unit_test::test_unit_id) {
  return tcp_lane_world::has("::1");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ipv6, *boost::unit_test::precondition(has_ipv6))
#define TROUPE_TEST_CASE(name)                  \
  BOOST_AUTO_TEST_CASE(name) {                  \
    tcp_lane_world world("::1");                \
    BOOST_TEST(conformance::name(world) == ""); \
  }
TROUPE_LANE_CASES(TROUPE_TEST_CASE)
#undef TROUPE_TEST_CASE
BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::conformance
