#define BOOST_TEST_MODULE conformance_verbs_lane
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdint>
#include <string>

#include "tests/conformance/lane_cases.hpp"
#include "tests/conformance/lane_worlds.hpp"

namespace troupe::conformance {

namespace {

// In a virtual machine a processor is fifty times slower: `conformance_net_verbs_lane -- small`.
class verbs_lane_world final : public tcp_lane_world {
 public:
  verbs_lane_world()
      : tcp_lane_world("127.0.0.1",
                       is_small() ? std::chrono::seconds(120) : std::chrono::seconds(20),
                       lane_kind::verbs) {}

  std::uint64_t large_bytes() const override {
    return is_small() ? 2ull << 20 : tcp_lane_world::large_bytes();
  }

 private:
  static bool is_small() {
    const auto& suite = boost::unit_test::framework::master_test_suite();
    return suite.argc > 1 && std::string(suite.argv[1]) == "small";
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
