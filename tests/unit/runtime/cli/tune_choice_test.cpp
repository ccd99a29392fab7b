#define BOOST_TEST_MODULE tune_choice
#include "runtime/cli/tune_choice.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "config/load.hpp"
#include "config/option_description.hpp"

using namespace troupe;
using namespace troupe::cli;

namespace {

using thresholds = std::vector<std::uint64_t>;

/// Sizes 1, 2, 3, ... KiB with these times.
std::vector<tuned_size> sizes_of(const std::vector<std::vector<double>>& times) {
  std::vector<tuned_size> out;
  for (std::size_t i = 0; i < times.size(); ++i)
    out.push_back({(i + 1) * 1024, times[i]});
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_threshold_stands_where_the_other_begins_to_win) {
  const auto choice = choose_thresholds(sizes_of({{1, 3}, {2, 3}, {4, 3}, {8, 3}}), {1024});
  BOOST_TEST((choice.above_bytes == thresholds{2048}));
  BOOST_TEST((choice.chosen == std::vector<std::size_t>{0, 0, 1, 1}));
  BOOST_CHECK_CLOSE(choice.mean_gain, std::pow(3.0 / 2, 0.25), 1e-6);
  BOOST_CHECK_CLOSE(choice.mean_loss, 1, 1e-6);
}

BOOST_AUTO_TEST_CASE(one_outlier_does_not_move_a_threshold) {
  // At 2 KiB the second wins by a hair, at 3 KiB it loses by far.
  const auto choice =
      choose_thresholds(sizes_of({{1, 3}, {2.1, 2}, {2, 6}, {8, 3}, {9, 3}}), {1024});
  BOOST_TEST((choice.above_bytes == thresholds{3072}));
  BOOST_TEST(choice.mean_loss > 1);
}

BOOST_AUTO_TEST_CASE(an_algorithm_that_never_wins_gets_no_range) {
  const auto first = choose_thresholds(sizes_of({{5, 9, 4}, {5, 9, 4}}), {1024, 1024});
  BOOST_TEST((first.above_bytes == thresholds{0, 0}), "the last one always");
  const auto middle = choose_thresholds(sizes_of({{1, 9, 4}, {5, 9, 4}}), {0, 0});
  BOOST_TEST((middle.above_bytes == thresholds{1024, 1024}));
  const auto all = choose_thresholds(sizes_of({{1, 2, 3}, {3, 2, 4}, {3, 2, 1}}), {0, 0});
  BOOST_TEST((all.above_bytes == thresholds{1024, 2048}));
  BOOST_TEST((all.chosen == std::vector<std::size_t>{0, 1, 2}));
}

BOOST_AUTO_TEST_CASE(what_was_not_measured_stays_as_it_was) {
  const auto sizes = sizes_of({{1, 3}, {2, 3}});
  BOOST_TEST((choose_thresholds(sizes, {1 << 20}).above_bytes == thresholds{1 << 20}));
  BOOST_TEST((choose_thresholds(sizes, {512}).above_bytes == thresholds{2048}));
}

BOOST_AUTO_TEST_CASE(sizes_are_taken_as_the_choice_table_takes_them) {
  BOOST_TEST(taken_at(1024, {1024}) == 0u, "up to and with the threshold");
  BOOST_TEST(taken_at(1025, {1024}) == 1u);
  BOOST_TEST(taken_at(5000, {4096, 1024}) == 2u, "the ring goes before halving");
  BOOST_TEST(taken_at(2000, {4096, 1024}) == 2u);
}

BOOST_AUTO_TEST_CASE(bruck_moves_its_limit_to_this_side_of_the_ranks_it_was_measured_with) {
  const auto wins = sizes_of({{10, 8}, {10, 9}}), loses = sizes_of({{8, 10}});
  BOOST_TEST(choose_bruck(wins, 16, 32).above_ranks == 15u);
  BOOST_TEST(choose_bruck(wins, 16, 8).above_ranks == 8u);
  BOOST_TEST(choose_bruck(loses, 16, 8).above_ranks == 16u);
  BOOST_TEST(choose_bruck(loses, 16, 32).above_ranks == 32u);
  BOOST_TEST(choose_bruck(sizes_of({{8, 8}}), 16, 20).above_ranks == 20u);
  BOOST_CHECK_CLOSE(choose_bruck(loses, 16, 8).mean_ratio, 1.25, 1e-9);
}

BOOST_AUTO_TEST_CASE(every_tuned_option_exists_and_the_fragment_names_it) {
  std::vector<tuned_option> options;
  for (const tuned_operation& operation : tuned_operations()) {
    BOOST_TEST(operation.algorithms.size() == operation.thresholds.size() + 1);
    for (const std::string& name : operation.thresholds) {
      BOOST_TEST(config::find_option("collective." + name) != nullptr, name);
      options.push_back({name, "4096"});
    }
  }
  const std::string text = tuned_fragment(options, "Thresholds.");
  BOOST_TEST(
      text.find("# Thresholds.\n[collective]\nall_reduce_halving_above_bytes = 4096\n") == 0u,
      text);
}

BOOST_AUTO_TEST_CASE(the_table_says_what_was_chosen_and_by_how_much_it_wins) {
  tuned_result result{tuned_operations()[1], sizes_of({{1, 3}, {6, 3}}), {}};
  result.choice = choose_thresholds(result.sizes, {0});
  const std::string text = describe_result(result);
  BOOST_TEST(text.find("# all_gather, median us\n") == 0u);
  BOOST_TEST(text.find("direct, 3.00x\n") != std::string::npos, text);
  BOOST_TEST(text.find("ring, 2.00x\n") != std::string::npos, text);
  BOOST_TEST(text.find("# all_gather_ring_above_bytes = 1K\n") != std::string::npos, text);
  BOOST_TEST(text.find("1.73x as fast as before") != std::string::npos, text);
}
