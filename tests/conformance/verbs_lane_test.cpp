#define BOOST_TEST_MODULE conformance_verbs_lane
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdint>
#include <string>

#include "tests/conformance/lane_cases.hpp"
#include "tests/conformance/lane_worlds.hpp"

namespace troupe::conformance {

namespace {

// Words after `--`: "small" for a virtual machine, whose processor is fifty times slower; two names
// of devices, one for each endpoint.
std::string word(int index) {
  const auto& suite = boost::unit_test::framework::master_test_suite();
  return index < suite.argc ? suite.argv[index] : "";
}

bool is_small() {
  return word(1) == "small";
}

class verbs_lane_world final : public tcp_lane_world {
 public:
  verbs_lane_world()
      : tcp_lane_world("127.0.0.1", std::chrono::seconds(is_small() ? 120 : 20), lane_kind::verbs,
                       {word(2), word(3)}) {}

  std::uint64_t large_bytes() const override {
    return is_small() ? 2ull << 20 : tcp_lane_world::large_bytes();
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(one_host)
#define TROUPE_TEST_CASE(name)                  \
  BOOST_AUTO_TEST_CASE(name) {                  \
    verbs_lane_world world;                     \
    BOOST_TEST(conformance::name(world) == ""); \
  }
TROUPE_LANE_CASES(TROUPE_TEST_CASE)
#undef TROUPE_TEST_CASE
BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::conformance
