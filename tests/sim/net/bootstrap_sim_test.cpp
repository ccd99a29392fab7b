#define BOOST_TEST_MODULE bootstrap_sim
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <functional>
#include <string_view>

#include "runtime/mark.hpp"
#include "tests/sim/net/bootstrap_scenarios.hpp"

using namespace troupe;
using namespace troupe::net;
using namespace troupe::sim;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t seed_count = 10'000;

std::uint64_t run_seed(std::uint64_t seed) {
  auto j = job_of(seed);
  switch (seed % 16) {
    case 0:
    case 1: return healthy(j);
    case 2: return late_twin(j);
    case 3: return wrong_secret(j);
    case 4: return duplicate_rank(j);
    case 5: return misfit_rank(j);
    case 6: return missing_ranks(j);
    case 7:
    case 8: return dies_or_hangs_while_joining(j);
    case 9: return deaths_after_joining(j);
    case 10: return links_on_demand(j);
    case 11: return unreachable_peers(j);
    case 12: return j.random.one_in(2) ? leave_in_good_order(j) : lanes_rebuilt(j);
    case 13: return early_links(j);
    case 14: return j.random.one_in(2) ? impossible_links(j) : split_ring(j);
    default: return corrupted(j);
  }
}

std::uint64_t number_from(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// Some branches are a matter of one seed in thousands.
boost::test_tools::assertion_result all_seeds_run(boost::unit_test::test_unit_id) {
  const bool all = number_from("TROUPE_SIM_SEED_COUNT", seed_count) >= seed_count;
  boost::test_tools::assertion_result out(all);
  out.message() << "rare branches need " << seed_count << " seeds";
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(ten_thousand_seeds_join_or_fail_precisely_and_in_time) {
  const auto first = number_from("TROUPE_SIM_SEED", 1);
  const auto count = number_from("TROUPE_SIM_SEED_COUNT", seed_count);
  for (auto seed = first; seed < first + count; ++seed)
    run_seed(seed);
}

BOOST_AUTO_TEST_CASE(the_same_seed_twice_gives_the_same_trace) {
  for (std::uint64_t seed = 1; seed <= 240; ++seed)
    BOOST_REQUIRE_EQUAL(run_seed(seed), run_seed(seed));
}

BOOST_AUTO_TEST_CASE(a_rank_that_leaves_waits_for_its_successor_a_second_at_most) {
  job j{.seed = 1, .world_size = 450, .timeout = 8s, .random = random_stream(1)};
  bootstrap_world world(j.seed, {});
  add_ranks(world, j, 0s);
  // Rank 58 begins a page; once it has sent that on, its predecessor needs nothing more of it.
  std::function<void()> watch = [&] {
    const bool connected = world.process(57).state.ring.successor.open;
    if (connected && world.process(58).state.counters.pages_sent >= 1) return world.stop(58);
    world.at(world.now() + 10us, watch);
  };
  world.at(instant{}, watch);
  world.at(instant{} + 500ms, [&] { world.leave(57); });
  run_to_end(world, j);
  BOOST_TEST((world.process(57).joined_at != never));
  BOOST_TEST((world.process(57).state.phase == bootstrap_phase::left));
  BOOST_TEST(world.process(57).state.connections.empty());
}

BOOST_AUTO_TEST_CASE(every_rare_branch_was_visited,
                     *boost::unit_test::precondition(all_seeds_run)) {
  for (const auto* m = mark::first(); m != nullptr; m = m->next())
    if (std::string_view(m->name()).starts_with("bootstrap:"))
      BOOST_TEST(m->hits() > 0, "mark never hit: " << m->name());
}
