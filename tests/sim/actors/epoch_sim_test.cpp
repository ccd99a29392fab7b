#define BOOST_TEST_MODULE epoch_sim
#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <string_view>

#include "runtime/mark.hpp"
#include "tests/sim/actors/epoch_schedule.hpp"

using namespace troupe;
using namespace troupe::sim;

namespace {

constexpr std::uint64_t seed_count = 10'000;

std::uint64_t number_from(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

bool all_seeds() {
  return number_from("TROUPE_SIM_SEED_COUNT", seed_count) >= seed_count;
}

// Some branches are a matter of one seed in thousands.
boost::test_tools::assertion_result all_seeds_run(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result out(all_seeds());
  out.message() << "rare branches need " << seed_count << " seeds";
  return out;
}

void print(const fault_tally& tally) {
  for (std::size_t kind = 0; kind < action_kind_count; ++kind) {
    std::string line;
    for (std::size_t phase = 0; phase < fault_phase_count; ++phase)
      if (tally.fired[kind][phase] != 0)
        line += std::string("  ") + to_string(static_cast<fault_phase>(phase)) + " " +
                std::to_string(tally.fired[kind][phase]);
    if (!line.empty()) BOOST_TEST_MESSAGE(to_string(static_cast<action_kind>(kind)) << ":" << line);
  }
  BOOST_TEST_MESSAGE(tally.schedules << " schedules, " << tally.hit_an_operation
                                     << " with a fault during an operation; " << tally.epochs
                                     << " view changes; calls: " << tally.ok << " ok, "
                                     << tally.failed << " failed alike, " << tally.out << " out");
}

/// Bugs that need a sequence of events too rare for a thousand schedules; epoch_search_test.cpp has
/// them.
bool needs_a_search(planted_bug bug) {
  return bug == planted_bug::commit_without_accept || bug == planted_bug::proposal_not_adopted ||
         bug == planted_bug::guest_votes;
}

/// Seeds until a planted bug is noticed; 0: it is not within 1,000.
std::uint64_t seeds_to_catch(planted_bug bug) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed)
    if (!run_schedule(seed, bug).violation.empty()) return seed;
  return 0;
}

}  // namespace

BOOST_AUTO_TEST_CASE(ten_thousand_schedules_of_faults_break_no_promise) {
  const auto first = number_from("TROUPE_SIM_SEED", 1);
  const auto count = number_from("TROUPE_SIM_SEED_COUNT", seed_count);
  fault_tally tally;
  for (auto seed = first; seed < first + count; ++seed) {
    const auto outcome = run_schedule(seed);
    BOOST_REQUIRE_MESSAGE(outcome.violation.empty(), "seed " << seed << ": " << outcome.violation);
    tally.add(outcome.tally);
  }
  print(tally);
  if (all_seeds()) BOOST_TEST(tally.hit_an_operation * 10 >= tally.schedules * 9);
}

// 19417, 124000 and 187719: a member with nothing to do is left out and does not hear of it.
// 198467: a partition heals when only the last of five members is left to turn to.
BOOST_AUTO_TEST_CASE(seeds_that_once_failed_hold) {
  for (const std::uint64_t seed : {19'417u, 124'000u, 187'719u, 198'467u})
    BOOST_TEST(run_schedule(seed).violation == "");
}

BOOST_AUTO_TEST_CASE(the_same_seed_gives_the_same_trace) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed)
    BOOST_TEST(run_schedule(seed).trace == run_schedule(seed).trace);
  BOOST_TEST(run_schedule(1).trace != run_schedule(2).trace);
}

BOOST_AUTO_TEST_CASE(every_planted_bug_is_caught_within_a_thousand_seeds) {
  for (std::size_t bug = 1; bug < planted_bug_count; ++bug) {
    if (needs_a_search(static_cast<planted_bug>(bug))) continue;
    const auto seed = seeds_to_catch(static_cast<planted_bug>(bug));
    BOOST_TEST_MESSAGE(to_string(static_cast<planted_bug>(bug)) << ": seed " << seed);
    BOOST_TEST(seed != 0, "not caught: " << to_string(static_cast<planted_bug>(bug)));
  }
}

BOOST_AUTO_TEST_CASE(every_rare_branch_was_visited,
                     *boost::unit_test::precondition(all_seeds_run)) {
  for (const auto* m = mark::first(); m != nullptr; m = m->next()) {
    const std::string_view name = m->name();
    if (name.starts_with("membership:") || name.starts_with("epoch:"))
      BOOST_TEST(m->hits() > 0, "mark never hit: " << name);
  }
}
