#define BOOST_TEST_MODULE collective_sim
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <string>

#include "runtime/mark.hpp"
#include "tests/sim/collectives/collective_case.hpp"

using namespace troupe;
using namespace troupe::collectives;
using namespace troupe::sim;

namespace {

constexpr std::uint64_t seed_count = 10'000;

/// Seeds to run, from the command line after "--": the first, and how many.
struct seed_range {
  std::uint64_t first = 1;
  std::uint64_t count = seed_count;
};

seed_range seeds() {
  const auto& suite = boost::unit_test::framework::master_test_suite();
  seed_range out;
  if (suite.argc > 1) out = {std::stoull(suite.argv[1]), 1};
  if (suite.argc > 2) out.count = std::stoull(suite.argv[2]);
  return out;
}

void check(std::uint64_t seed, const case_wishes& wishes = {}) {
  const collective_case one = draw_case(seed, wishes);
  const case_outcome outcome = run_case(one);
  BOOST_TEST(outcome.failure.empty(),
             "seed " << seed << ", " << describe(one) << ": " << outcome.failure);
}

/// How many of the first seeds notice a planted bug.
template <class Mutation>
std::uint64_t caught(const case_wishes& wishes, const Mutation& mutation) {
  std::uint64_t out = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    collective_case one = draw_case(seed, wishes);
    one.network.mutate = mutation;
    out += run_case(one).failure.empty() ? 0 : 1;
  }
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_operation_is_right_in_any_order_of_delivery) {
  const seed_range range = seeds();
  for (std::uint64_t seed = range.first; seed < range.first + range.count; ++seed)
    check(seed);
}

BOOST_AUTO_TEST_CASE(every_algorithm_is_right_for_every_number_of_ranks_up_to_17) {
  struct row {
    operation_kind kind;
    algorithm which;
  };
  for (const row& one : {row{operation_kind::all_reduce, algorithm::ring},
                         row{operation_kind::all_reduce, algorithm::recursive_doubling},
                         row{operation_kind::all_reduce, algorithm::ftar},
                         row{operation_kind::all_gather, algorithm::ring},
                         row{operation_kind::all_gather, algorithm::direct},
                         row{operation_kind::reduce_scatter, algorithm::ring},
                         row{operation_kind::reduce_scatter, algorithm::direct},
                         row{operation_kind::all_reduce, algorithm::recursive_halving},
                         row{operation_kind::all_reduce, algorithm::binomial_tree},
                         row{operation_kind::all_gather, algorithm::bruck},
                         row{operation_kind::all_gather, algorithm::binary_tree},
                         row{operation_kind::broadcast, algorithm::binomial_tree},
                         row{operation_kind::broadcast, algorithm::chain},
                         row{operation_kind::reduce, algorithm::binomial_tree},
                         row{operation_kind::reduce, algorithm::chain},
                         row{operation_kind::gather, algorithm::direct},
                         row{operation_kind::scatter, algorithm::direct},
                         row{operation_kind::all_to_all, algorithm::direct},
                         row{operation_kind::all_to_all_v, algorithm::direct},
                         row{operation_kind::barrier, algorithm::dissemination}})
    for (std::uint32_t ranks = 1; ranks <= 17; ++ranks)
      for (std::uint64_t seed = 0; seed < 4; ++seed)
        check(1'000'000 + ranks * 10 + seed,
              {.rank_count = ranks, .kind = one.kind, .requested = one.which});
}

BOOST_AUTO_TEST_CASE(sixty_four_ranks_agree) {
  for (const operation_kind kind :
       {operation_kind::all_reduce, operation_kind::all_gather, operation_kind::reduce_scatter,
        operation_kind::broadcast, operation_kind::barrier, operation_kind::reduce,
        operation_kind::gather, operation_kind::scatter, operation_kind::all_to_all,
        operation_kind::all_to_all_v})
    for (std::uint64_t seed = 0; seed < 3; ++seed)
      check(2'000'000 + seed, {.rank_count = 64, .kind = kind});
}

BOOST_AUTO_TEST_CASE(the_same_seed_gives_the_same_trace) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed)
    BOOST_TEST(run_case(draw_case(seed)).trace_hash == run_case(draw_case(seed)).trace_hash);
  BOOST_TEST(run_case(draw_case(1)).trace_hash != run_case(draw_case(2)).trace_hash);
}

BOOST_AUTO_TEST_CASE(a_scaling_that_is_forgotten_is_caught) {
  BOOST_TEST(caught({.rank_count = 4, .kind = operation_kind::all_reduce},
                    [](rank, collective_effect& effect) {
                      if (auto* one = std::get_if<combine>(&effect)) one->scale_right = false;
                      if (auto* one = std::get_if<copy>(&effect)) one->scale = false;
                      return true;
                    }) > 0);
}

BOOST_AUTO_TEST_CASE(a_division_that_is_forgotten_at_one_rank_is_caught) {
  BOOST_TEST(caught({.rank_count = 4, .kind = operation_kind::all_reduce},
                    [](rank self, collective_effect& effect) {
                      auto* one = std::get_if<combine>(&effect);
                      if (one != nullptr && self == rank{2}) one->divide = false;
                      return true;
                    }) > 0);
}

BOOST_AUTO_TEST_CASE(a_partial_written_to_the_wrong_place_is_caught) {
  BOOST_TEST(caught({.rank_count = 3, .kind = operation_kind::reduce_scatter},
                    [](rank, collective_effect& effect) {
                      auto* one = std::get_if<combine>(&effect);
                      if (one != nullptr) one->target = one->right;
                      return true;
                    }) > 200);
}

BOOST_AUTO_TEST_CASE(a_put_that_is_lost_is_caught) {
  BOOST_TEST(caught({.rank_count = 5, .kind = operation_kind::all_gather},
                    [](rank self, collective_effect& effect) {
                      return self != rank{1} || !std::holds_alternative<put>(effect);
                    }) > 200);
}

BOOST_AUTO_TEST_CASE(an_accept_of_the_wrong_chunk_is_caught) {
  BOOST_TEST(caught({.rank_count = 5, .kind = operation_kind::broadcast},
                    [](rank, collective_effect& effect) {
                      if (auto* one = std::get_if<accept>(&effect)) one->step ^= 1;
                      return true;
                    }) > 100);
}

BOOST_AUTO_TEST_CASE(an_own_input_that_is_not_scaled_on_its_way_up_a_tree_is_caught) {
  for (const algorithm which : {algorithm::binomial_tree, algorithm::chain})
    BOOST_TEST(caught({.rank_count = 5, .kind = operation_kind::reduce, .requested = which},
                      [](rank, collective_effect& effect) {
                        if (auto* one = std::get_if<combine>(&effect))
                          one->scale_left = one->scale_right = false;
                        return true;
                      }) > 5);
}

BOOST_AUTO_TEST_CASE(a_root_that_forgets_to_divide_is_caught) {
  BOOST_TEST(caught({.rank_count = 6, .kind = operation_kind::reduce},
                    [](rank, collective_effect& effect) {
                      if (auto* one = std::get_if<combine>(&effect)) one->divide = false;
                      return true;
                    }) > 5);
}

BOOST_AUTO_TEST_CASE(a_pair_without_elements_that_says_nothing_is_caught) {
  BOOST_TEST(caught({.rank_count = 4, .kind = operation_kind::all_to_all_v},
                    [](rank, collective_effect& effect) {
                      const auto* one = std::get_if<put>(&effect);
                      return one == nullptr || one->source.bytes != 0;
                    }) > 200);
}

BOOST_AUTO_TEST_CASE(a_block_that_goes_to_the_neighbour_of_its_place_is_caught) {
  for (const operation_kind kind : {operation_kind::gather, operation_kind::scatter,
                                    operation_kind::all_to_all, operation_kind::all_to_all_v})
    BOOST_TEST(caught({.rank_count = 4, .kind = kind}, [](rank, collective_effect& effect) {
                 auto* one = std::get_if<put>(&effect);
                 if (one != nullptr && one->source.offset > 0) --one->source.offset;
                 return true;
               }) > 100);
}

BOOST_AUTO_TEST_CASE(half_a_buffer_taken_from_the_wrong_side_is_caught) {
  BOOST_TEST(caught({.rank_count = 4,
                     .kind = operation_kind::all_reduce,
                     .requested = algorithm::recursive_halving},
                    [](rank, collective_effect& effect) {
                      auto* one = std::get_if<combine>(&effect);
                      if (one != nullptr) one->left = one->right;
                      return true;
                    }) > 100);
  BOOST_TEST(caught({.rank_count = 6,
                     .kind = operation_kind::all_gather,
                     .requested = algorithm::binary_tree},
                    [](rank self, collective_effect& effect) {
                      auto* one = std::get_if<put>(&effect);
                      if (one != nullptr && self.value == 1 && one->peer.value == 0)
                        one->source.offset = 0;
                      return true;
                    }) > 100);
  BOOST_TEST(
      caught({.rank_count = 6, .kind = operation_kind::all_gather, .requested = algorithm::bruck},
             [](rank, collective_effect& effect) {
               auto* one = std::get_if<put>(&effect);
               if (one != nullptr && one->step == 1) one->source.offset = 0;
               return true;
             }) > 50);
}
