#define BOOST_TEST_MODULE shrink_scenario
#include "runtime/scenario/shrink_scenario.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "runtime/scenario/print_scenario.hpp"
#include "runtime/scenario/read_scenario.hpp"
#include "tests/unit/runtime/scenario/script_text.hpp"

namespace troupe::scenario {
namespace {

script large() {
  auto read = read_scenario(
      script_with("[settings.transport]\nack_delay = \"1ms\"\n"
                  "[[fault]]\nkind = \"slow\"\nrank = 0\nstep = 1\nby = \"1ms\"\n"
                  "[[fault]]\nkind = \"kill\"\nrank = 2\nstep = 4\n"
                  "[[fault]]\nkind = \"stop\"\nrank = 1\nstep = 6\nfor = \"1ms\"\nrepeat = 9\n"
                  "every = \"1ms\"\n"
                  "[[expect]]\noutcome = [\"ok\", \"killed\"]\n"),
      "f.toml");
  BOOST_REQUIRE_MESSAGE(read.has_value(), (read ? "" : read.error().message));
  return *read;
}

bool kills_rank_2(const script& of) {
  return std::any_of(of.faults.begin(), of.faults.end(), [](const fault& each) {
    return each.kind == fault_kind::kill && each.whom.numbers == std::vector<std::uint32_t>{2};
  });
}

BOOST_AUTO_TEST_CASE(what_does_not_matter_goes_and_what_does_stays) {
  const auto small = shrink_scenario(large(), kills_rank_2);
  BOOST_TEST(small.smallest.faults.size() == 1u);
  BOOST_TEST(small.smallest.expectations.empty());
  BOOST_TEST(small.smallest.settings.empty());
  BOOST_TEST(small.smallest.machines.ranks == 3u);  // rank 2 has to exist
  BOOST_TEST(small.smallest.work.steps == 4u);      // and step 4
  BOOST_TEST(small.smallest.work.operations.at(0).count == 1u);
  BOOST_TEST(small.variants_played > 0u);
}

BOOST_AUTO_TEST_CASE(the_same_script_shrinks_to_the_same) {
  const auto once = shrink_scenario(large(), kills_rank_2);
  const auto again = shrink_scenario(large(), kills_rank_2);
  BOOST_TEST(print_scenario(once.smallest) == print_scenario(again.smallest));
  BOOST_TEST(once.variants_played == again.variants_played);
}

BOOST_AUTO_TEST_CASE(a_script_in_which_everything_matters_stays) {
  const auto all = large();
  const auto text = print_scenario(all);
  const auto small =
      shrink_scenario(all, [&](const script& of) { return print_scenario(of) == text; });
  BOOST_TEST(print_scenario(small.smallest) == text);
}

}  // namespace
}  // namespace troupe::scenario
