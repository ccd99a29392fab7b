#define BOOST_TEST_MODULE explain_scenario
#include "runtime/scenario/explain_scenario.hpp"

#include <boost/test/unit_test.hpp>

#include "runtime/scenario/read_scenario.hpp"
#include "runtime/scenario/scenario_names.hpp"
#include "tests/unit/runtime/scenario/script_text.hpp"

namespace troupe::scenario {
namespace {

std::string story_of(const std::string& more) {
  const auto read = read_scenario(script_with(more), "f.toml");
  BOOST_REQUIRE_MESSAGE(read.has_value(), (read ? "" : read.error().message));
  return explain_scenario(*read);
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

BOOST_AUTO_TEST_CASE(the_story_says_who_does_what_and_what_happens_when) {
  const auto story = story_of(
      "[[fault]]\nkind = \"kill\"\nrank = 1\nstep = 5\nafter = \"10us\"\n"
      "[[fault]]\nkind = \"stop\"\nranks = [0, 2]\nat = \"2ms\"\nfor = \"1s\"\n"
      "[[fault]]\nkind = \"garbage\"\nrank = 3\nphase = \"join\"\n"
      "[[expect]]\nrank = 0\noutcome = [\"ok\", \"peer_lost\"]\nnames = 1\nwithin = \"2s\"\n");
  BOOST_TEST(has(story, "4 ranks on 2 hosts in 1 rack; plays in sim\n"), story);
  BOOST_TEST(has(story, "10 steps of all_reduce of 1024 float32 by ring\n"), story);
  BOOST_TEST(has(story, "  10us after step 5 begins: rank 1 is killed\n"), story);
  BOOST_TEST(has(story, "  at 2ms: ranks 0, 2 are paused, for 1s\n"), story);
  BOOST_TEST(has(story, "  rank 0: end in ok or peer_lost, naming rank 1; end within 2s"), story);
  BOOST_TEST(story.find("garbage") < story.find("killed"), story);
}

BOOST_AUTO_TEST_CASE(every_kind_of_fault_has_words_of_its_own) {
  std::vector<std::string> seen;
  for (std::size_t i = 0; i < fault_kind_count; ++i) {
    fault what;
    what.kind = static_cast<fault_kind>(i);
    what.actor = "rank";
    const auto text = describe(what);
    BOOST_TEST(!has(text, "struck"), text);
    BOOST_TEST((std::find(seen.begin(), seen.end(), text) == seen.end()), text);
    seen.push_back(text);
  }
}

}  // namespace
}  // namespace troupe::scenario
