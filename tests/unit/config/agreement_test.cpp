#define BOOST_TEST_MODULE agreement
#include "config/agreement.hpp"

#include "config/load.hpp"
#include "config/option_text.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>

namespace troupe::config {
namespace {

options with(std::string name, std::string text) {
  return load({.settings = {{std::move(name), std::move(text)}},
               .environment = environment_variables{}})
      .value()
      .values;
}

BOOST_AUTO_TEST_CASE(the_list_has_every_must_agree_option_and_no_other) {
  const auto list = must_agree_options({});
  for (const section_description& section : sections()) {
    for (const option_description& option : section.entries) {
      const bool listed = std::ranges::count(list, option.name, &agreed_option::name) == 1;
      const bool wanted =
          option.agrees == agreement::must_agree && option.shows != visibility::secret;
      BOOST_TEST(listed == wanted, option.name);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_secret_is_not_in_the_list_and_not_in_the_hash) {
  const options o = with("bootstrap.secret", "hunter2");
  for (const agreed_option& option : must_agree_options(o))
    BOOST_TEST(option.name != "bootstrap.secret");
  BOOST_TEST(must_agree_hash(o) == must_agree_hash({}));
}

BOOST_AUTO_TEST_CASE(every_must_agree_option_changes_the_hash) {
  for (const agreed_option& listed : must_agree_options({})) {
    const option_description& option = *find_option(listed.name);
    if (option.kind == value_kind::text) continue;
    options o;
    option.field.write(
        o, option.field.read(o) == option_value{option.high} ? option.low : option.high);
    BOOST_TEST(must_agree_hash(o) != must_agree_hash({}), listed.name);
  }
}

BOOST_AUTO_TEST_CASE(an_option_of_one_rank_changes_nothing) {
  BOOST_TEST(must_agree_hash(with("bootstrap.timeout", "5m")) == must_agree_hash({}));
}

BOOST_AUTO_TEST_CASE(equal_values_are_equal_however_they_are_written) {
  const options a = with("transport.segment_bytes", "524288");
  const options b = with("transport.segment_bytes", "512KiB");
  BOOST_TEST(must_agree_hash(a) == must_agree_hash(b));
  BOOST_TEST((must_agree_options(a) == must_agree_options(b)));
  BOOST_TEST(!find_difference(must_agree_options(a), must_agree_options(b)).has_value());
}

BOOST_AUTO_TEST_CASE(a_difference_names_the_option_and_both_values) {
  const auto ours = must_agree_options({});
  const auto theirs = must_agree_options(with("transport.segment_bytes", "2MiB"));
  const auto difference = find_difference(ours, theirs);
  BOOST_REQUIRE(difference.has_value());
  BOOST_TEST(describe(*difference, "rank 0", "rank 3") ==
             "transport.segment_bytes is 1MiB on rank 0 and 2MiB on rank 3; "
             "it must agree on all ranks");
}

BOOST_AUTO_TEST_CASE(an_option_that_only_one_side_knows_is_a_difference) {
  auto shorter = must_agree_options({});
  const auto full = shorter;
  shorter.pop_back();
  BOOST_TEST(find_difference(full, shorter)->name == full.back().name);
  BOOST_TEST(find_difference(shorter, full)->name == full.back().name);
  BOOST_TEST(describe(*find_difference(shorter, full), "a", "b").find("unknown on a") !=
             std::string::npos);
}

}  // namespace
}  // namespace troupe::config
