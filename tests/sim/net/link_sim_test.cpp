#define BOOST_TEST_MODULE link_sim
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/mark.hpp"
#include "tests/sim/net/link_world.hpp"

using namespace troupe;
using namespace troupe::sim;

namespace {

// `-- --seeds 100000` plays more, `-- --seed 42` plays one.
std::uint64_t argument(std::string_view name, std::uint64_t otherwise) {
  const auto& suite = boost::unit_test::framework::master_test_suite();
  for (int i = 1; i + 1 < suite.argc; ++i) {
    if (suite.argv[i] == name) return std::strtoull(suite.argv[i + 1], nullptr, 10);
  }
  return otherwise;
}

// Lines "link <seed> ..." of the list.
std::vector<std::uint64_t> seeds_of_fixed_bugs() {
  std::vector<std::uint64_t> seeds;
  std::ifstream list(TROUPE_SEEDS);
  BOOST_REQUIRE_MESSAGE(list.good(), "no list of seeds at " TROUPE_SEEDS);
  for (std::string line; std::getline(list, line);) {
    if (line.rfind("link ", 0) == 0) seeds.push_back(std::strtoull(line.c_str() + 5, nullptr, 10));
  }
  return seeds;
}

constexpr std::uint64_t seed_count_default = 10'000;

std::uint64_t play(std::uint64_t seed) {
  link_world world(seed);
  const auto& failure = world.run();
  BOOST_REQUIRE_MESSAGE(failure.empty(), failure);
  return world.trace_hash();
}

}  // namespace

BOOST_AUTO_TEST_CASE(two_links_keep_every_promise_whatever_their_lanes_do) {
  const auto only = argument("--seed", 0);
  if (only != 0) {
    play(only);
    return;
  }
  const auto seeds = argument("--seeds", seed_count_default);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed)
    play(seed);
  for (const auto seed : seeds_of_fixed_bugs())
    play(seed);
  BOOST_TEST(link_world::allocations_in_steps() == 0u);
  if (seeds < seed_count_default) return;
  for (const auto* m = mark::first(); m != nullptr; m = m->next()) {
    if (std::string_view(m->name()).substr(0, 5) != "link:") continue;
    BOOST_CHECK_MESSAGE(m->hits() > 0, "never reached: " << m->name());
  }
}

BOOST_AUTO_TEST_CASE(the_same_seed_gives_the_same_trace) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed)
    BOOST_TEST(play(seed) == play(seed));
}
