#define BOOST_TEST_MODULE sharded_trainer
#include "docs/examples/sharded_trainer.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <thread>
#include <vector>

#include "docs/examples/in_process_world.hpp"
#include "docs/examples/reference_trainer.hpp"
#include "runtime/communicator.hpp"

namespace {

using examples::text_corpus;

constexpr std::size_t step_count = 12;
constexpr std::size_t rows_per_rank = 3;
constexpr std::size_t context = 4;
constexpr std::uint64_t seed = 5;

struct job {
  std::uint32_t ranks = 4;
  std::uint32_t groups = 2;
  bool skip_all_reduce = false;
};

struct outcome_of_run {
  std::vector<double> losses;
  std::vector<std::vector<float>> parameters;
};

const text_corpus& corpus() {
  static const text_corpus text("It was the best of times, it was the worst of times.");
  return text;
}

examples::character_model model() {
  return examples::character_model(
      {.symbol_count = corpus().symbol_count(), .context = context, .width = 16});
}

examples::text_batch rows_of(std::size_t step, std::size_t rank) {
  return corpus().draw({.seed = seed,
                        .step = step,
                        .first_row = rank * rows_per_rank,
                        .row_count = rows_per_rank,
                        .context = context});
}

template <class Trainer>
std::vector<std::vector<float>> copy_parameters(const Trainer& trainer) {
  std::vector<std::vector<float>> copy;
  for (std::size_t bucket = 0; bucket < model().bucket_count(); ++bucket) {
    const auto from = trainer.parameters(bucket);
    copy.emplace_back(from.begin(), from.end());
  }
  return copy;
}

outcome_of_run train_alone(const job& what) {
  const auto shape = model();
  examples::reference_trainer trainer(shape, {.rank_count = what.ranks,
                                              .group_count = what.groups,
                                              .row_count = rows_per_rank,
                                              .seed = seed});
  outcome_of_run result;
  for (std::size_t step = 0; step < step_count; ++step) {
    std::vector<examples::text_batch> batches;
    for (std::size_t rank = 0; rank < what.ranks; ++rank)
      batches.push_back(rows_of(step, rank));
    result.losses.push_back(trainer.step(batches, 1e-2));
  }
  result.parameters = copy_parameters(trainer);
  return result;
}

/// One rank's run; the failure's text in `error` if an operation failed.
outcome_of_run train_rank(troupe::communicator& world, const job& what, std::string& error) {
  const auto shape = model();
  outcome_of_run result;
  auto trainer = examples::sharded_trainer::create(world, shape,
                                                   {.group_count = what.groups,
                                                    .row_count = rows_per_rank,
                                                    .seed = seed,
                                                    .skip_all_reduce = what.skip_all_reduce});
  if (!trainer) return error = to_string(trainer.error()), result;
  for (std::size_t step = 0; step < step_count; ++step) {
    const auto loss = (*trainer)->step(rows_of(step, world.rank().value), 1e-2);
    if (!loss) return error = to_string(loss.error()), result;
    result.losses.push_back(*loss);
  }
  if (auto done = (*trainer)->finish(); !done) error = to_string(done.error());
  result.parameters = copy_parameters(**trainer);
  return result;
}

std::vector<outcome_of_run> train_together(const job& what) {
  auto world = examples::make_in_process_world({.size = what.ranks});
  std::vector<outcome_of_run> results(what.ranks);
  std::vector<std::string> errors(what.ranks);
  {
    std::vector<std::jthread> ranks;
    for (std::uint32_t r = 0; r < what.ranks; ++r) {
      ranks.emplace_back([&, r] { results[r] = train_rank(*world[r], what, errors[r]); });
    }
  }
  for (const std::string& error : errors)
    BOOST_TEST(error == "");
  return results;
}

void check_same_as_alone(const job& what) {
  BOOST_TEST_CONTEXT(what.ranks << " ranks in " << what.groups << " groups") {
    const outcome_of_run alone = train_alone(what);
    for (const outcome_of_run& each : train_together(what)) {
      BOOST_TEST((each.losses == alone.losses));
      BOOST_TEST((each.parameters == alone.parameters));
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_shape_of_job_learns_bitwise_what_one_process_learns) {
  for (const job& what : {job{1, 1}, job{2, 1}, job{2, 2}, job{4, 2}, job{4, 1}, job{4, 4},
                          job{3, 1}, job{6, 2}, job{6, 3}})
    check_same_as_alone(what);
}

BOOST_AUTO_TEST_CASE(without_the_all_reduce_the_groups_learn_something_else) {
  const job broken{.skip_all_reduce = true};
  const outcome_of_run alone = train_alone(broken);
  const auto together = train_together(broken);
  BOOST_TEST((together[0].losses != alone.losses));
  BOOST_TEST((together[0].parameters != together[2].parameters));
}
