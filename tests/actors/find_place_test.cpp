#define BOOST_TEST_MODULE find_place
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "runtime/communicator.hpp"

namespace troupe {
namespace {

communicator_options alone() {
  communicator_options options;
  options.rank = 0;
  options.world_size = 1;
  return options;
}

std::string refusal(const communicator_options& options, errc code) {
  const auto joined = join(options);
  BOOST_REQUIRE(!joined.has_value());
  BOOST_TEST((joined.error().code() == code));
  return joined.error().message;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

BOOST_AUTO_TEST_CASE(the_program_is_asked_once_for_the_place_of_its_rank) {
  std::vector<rank> asked;
  auto options = alone();
  options.find_place = [&asked](rank self) {
    asked.push_back(self);
    return place{"east", "e1", "r1", ""};
  };
  BOOST_TEST(join(options).has_value());
  BOOST_REQUIRE(asked.size() == 1u);
  BOOST_TEST(asked[0].value == 0u);
}

BOOST_AUTO_TEST_CASE(an_impossible_place_is_refused_before_anything_starts) {
  auto options = alone();
  options.find_place = [](rank) { return place{"east", "", "r1", ""}; };
  const auto message = refusal(options, errc::bad_argument);
  BOOST_TEST(has(message, "find_place of rank 0"), message);
  BOOST_TEST(has(message, "rack \"r1\""), message);
}

BOOST_AUTO_TEST_CASE(the_program_goes_before_the_configuration) {
  auto options = alone();
  options.settings = {{"topology.file", "no-such-file.toml"}};
  const auto message = refusal(options, errc::bad_configuration);
  BOOST_TEST(has(message, "no-such-file.toml"), message);
  options.find_place = [](rank) { return place{}; };
  BOOST_TEST(join(options).has_value());
}

}  // namespace
}  // namespace troupe
