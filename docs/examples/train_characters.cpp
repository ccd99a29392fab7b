// The worked example of Troupe: trains a small language model on all ranks of a job, and shows
// that the result is that of one process. Start reading here, then sharded_trainer.hpp.

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "docs/examples/adam.hpp"
#include "docs/examples/character_model.hpp"
#include "docs/examples/reference_trainer.hpp"
#include "docs/examples/sharded_trainer.hpp"
#include "docs/examples/text_corpus.hpp"
#include "docs/examples/text_sampler.hpp"
#include "docs/examples/train_options.hpp"
#include "docs/examples/train_report.hpp"
#include "runtime/communicator.hpp"

namespace examples {
namespace {

enum exit_code : int { agreed = 0, differed = 1, bad_usage = 2, communication_failed = 3 };

/// A problem as the user reads it, and the exit code that goes with it.
struct problem {
  exit_code code;
  std::string sentence;
};

template <class T>
using attempt = tl::expected<T, problem>;

tl::unexpected<problem> misuse(std::string sentence) {
  return tl::unexpected(problem{bad_usage, std::move(sentence)});
}

tl::unexpected<problem> failed(const troupe::failure& why) {
  return tl::unexpected(problem{communication_failed, to_string(why)});
}

/// What every rank prepares alike before it trains.
struct training {
  train_options options;
  text_corpus corpus;
  character_model model;
  learning_schedule schedule;

  batch_request rows_of(std::size_t step, std::size_t rank, const job_shape& job) const {
    return {.seed = options.seed,
            .step = step,
            .first_row = rank * job.rows_per_rank,
            .row_count = job.rows_per_rank,
            .context = options.context};
  }
};

attempt<training> prepare(const train_options& options) {
  auto corpus = text_corpus::load(options.data);
  if (!corpus) return misuse(corpus.error());
  if (corpus->size() <= options.context) {
    return misuse("the text has " + std::to_string(corpus->size()) + " characters; --context " +
                  std::to_string(options.context) + " needs more");
  }
  const character_model model(
      {.symbol_count = corpus->symbol_count(), .context = options.context, .width = options.width});
  return training{.options = options,
                  .corpus = std::move(*corpus),
                  .model = model,
                  .schedule = {.step_count = options.steps}};
}

void print_headline(const training& what, const job_shape& job) {
  if (what.options.quiet) return;
  std::printf(
      "%u ranks in %u groups of %u: %zu parameters in %zu buckets, %zu characters of text\n",
      job.ranks, job.groups, job.ranks / job.groups, what.model.parameter_count(),
      what.model.bucket_count(), what.corpus.size());
}

/// The file for the loss curve, opened before the training so that a wrong path costs no time.
/// Not open: none is wanted.
attempt<std::ofstream> open_csv(const std::string& path) {
  std::ofstream file;
  if (path.empty()) return file;
  file.open(path);
  if (!file) return misuse("cannot write the loss curve to " + path);
  return file;
}

attempt<void> write_csv(std::ofstream& file, const std::vector<double>& losses) {
  if (!file.is_open()) return {};
  file.precision(17);
  file << "step,loss\n";
  for (std::size_t step = 0; step < losses.size(); ++step)
    file << step + 1 << ',' << losses[step] << '\n';
  file.close();
  if (!file) return misuse("writing the loss curve failed; is the disk full?");
  return {};
}

/// The same training in this process alone.
std::vector<double> train_alone(const training& what, const job_shape& job) {
  reference_trainer trainer(what.model, {.rank_count = job.ranks,
                                         .group_count = job.groups,
                                         .row_count = job.rows_per_rank,
                                         .seed = what.options.seed});
  progress_report progress(what.options, "one process");
  std::vector<double> losses;
  std::vector<text_batch> batches(job.ranks);
  for (std::size_t step = 0; step < what.options.steps; ++step) {
    for (std::size_t rank = 0; rank < job.ranks; ++rank)
      batches[rank] = what.corpus.draw(what.rows_of(step, rank, job));
    losses.push_back(trainer.step(batches, what.schedule.rate(step)));
    progress.show(step, losses.back(), std::nullopt);
  }
  return losses;
}

/// Ranks that were given different texts or flags would train nonsense, or wait for each other.
attempt<void> check_agreement(troupe::communicator& world, const training& what,
                              const job_shape& job) {
  const train_options& options = what.options;
  const std::array<std::uint64_t, 7> mine{what.corpus.fingerprint(),
                                          options.steps,
                                          options.batch,
                                          options.context,
                                          options.width,
                                          options.seed,
                                          job.groups};
  std::vector<std::uint64_t> all(mine.size() * world.size());
  auto work = world.all_gather({.send = mine.data(),
                                .receive = all.data(),
                                .count = mine.size(),
                                .type = troupe::data_type::uint64});
  if (!work) return failed(work.error());
  if (auto done = (*work)->wait(); !done) return failed(done.error());
  for (std::size_t rank = 0; rank < world.size(); ++rank) {
    if (!std::equal(mine.begin(), mine.end(), &all[rank * mine.size()]))
      return misuse("rank " + std::to_string(rank) + " has another text or other flags than rank " +
                    std::to_string(world.rank().value));
  }
  return {};
}

/// What rank 0 reports of a job.
struct job_result {
  std::vector<double> losses;
  step_record one_step;
  std::size_t one_step_number = 0;
};

attempt<job_result> train_together(sharded_trainer& trainer, const training& what,
                                   const job_shape& job, std::size_t rank) {
  train_options shown = what.options;
  if (rank != 0) shown.quiet = true;
  progress_report progress(shown, std::to_string(job.ranks) + " ranks");
  job_result result;
  result.one_step_number = what.options.steps / 2;
  for (std::size_t step = 0; step < what.options.steps; ++step) {
    const text_batch batch = what.corpus.draw(what.rows_of(step, rank, job));
    const auto loss = trainer.step(batch, what.schedule.rate(step));
    if (!loss) return failed(loss.error());
    result.losses.push_back(*loss);
    progress.show(step, *loss, trainer.timeline().totals().exposed);
    // A step is settled while the next one runs.
    if (step == result.one_step_number + 1) result.one_step = trainer.timeline().latest();
  }
  if (auto done = trainer.finish(); !done) return failed(done.error());
  if (result.one_step.intervals.empty()) result.one_step = trainer.timeline().latest();
  return result;
}

void print_sample(const training& what, const sharded_trainer& trainer) {
  std::vector<std::span<const float>> parameters;
  for (std::size_t bucket = 0; bucket < what.model.bucket_count(); ++bucket)
    parameters.push_back(trainer.parameters(bucket));
  const std::string text =
      sample_text(what.model, what.corpus, parameters, {.seed = what.options.seed});
  std::printf("\nthe model writes:\n%s\n", text.c_str());
}

/// Rank 0 alone: the other ranks have left the job.
exit_code report(const training& what, const job_shape& job, const sharded_trainer& trainer,
                 const job_result& result) {
  const std::vector<double> reference = train_alone(what, job);
  if (!what.options.quiet) {
    print_overlap(result.one_step, result.one_step_number, what.model.bucket_count());
    print_time(trainer.timeline().totals(), what.options.steps);
    print_sample(what, trainer);
    print_curves(result.losses, reference);
  }
  const comparison compared = compare_curves(result.losses, reference);
  print_comparison(compared, what.options.steps);
  return compared.largest_difference <= allowed_difference ? agreed : differed;
}

attempt<exit_code> run_job(const training& what) {
  auto world = troupe::join();
  if (!world) return failed(world.error());
  const std::size_t rank = (*world)->rank().value;
  const auto job = shape_job(what.options, (*world)->size());
  if (!job) return misuse(job.error());
  auto csv = open_csv(rank == 0 ? what.options.csv : "");
  if (!csv) return tl::unexpected(csv.error());
  if (auto equal = check_agreement(**world, what, *job); !equal)
    return tl::unexpected(equal.error());

  auto trainer = sharded_trainer::create(**world, what.model,
                                         {.group_count = job->groups,
                                          .row_count = job->rows_per_rank,
                                          .seed = what.options.seed,
                                          .skip_all_reduce = what.options.break_sync});
  if (!trainer) return failed(trainer.error());
  if (rank == 0) print_headline(what, *job);
  const auto result = train_together(**trainer, what, *job, rank);
  if (!result) return tl::unexpected(result.error());
  if (auto left = (*world)->finalize(longest_good_bye); !left) return failed(left.error());

  if (rank != 0) return agreed;
  if (auto written = write_csv(*csv, result->losses); !written)
    return tl::unexpected(written.error());
  return report(what, *job, **trainer, *result);
}

attempt<exit_code> run_single(const training& what) {
  const auto job = shape_job(what.options, what.options.ranks);
  if (!job) return misuse(job.error());
  auto csv = open_csv(what.options.csv);
  if (!csv) return tl::unexpected(csv.error());
  print_headline(what, *job);
  const std::vector<double> losses = train_alone(what, *job);
  if (auto written = write_csv(*csv, losses); !written) return tl::unexpected(written.error());
  return agreed;
}

attempt<exit_code> run(std::span<const char* const> arguments) {
  const auto options = parse_options(arguments);
  if (!options) return misuse(options.error());
  if (options->help) {
    std::fputs(usage().c_str(), stdout);
    return agreed;
  }
  const auto what = prepare(*options);
  if (!what) return tl::unexpected(what.error());
  return options->single ? run_single(*what) : run_job(*what);
}

}  // namespace
}  // namespace examples

int main(int argc, char** argv) {
  const auto result = examples::run({argv + 1, static_cast<std::size_t>(argc - 1)});
  if (result) return *result;
  std::fprintf(stderr, "train_characters: %s\n", result.error().sentence.c_str());
  return result.error().code;
}
