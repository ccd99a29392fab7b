#include "docs/examples/sharded_trainer.hpp"

#include <numeric>
#include <utility>

namespace examples {

using troupe::outcome;
using troupe::work_handle;

outcome<std::unique_ptr<sharded_trainer>> sharded_trainer::create(
    troupe::communicator& world, const character_model& model,
    const sharded_trainer_options& options) {
  std::unique_ptr<sharded_trainer> trainer(new sharded_trainer(world, model, options));
  if (auto formed = trainer->form_groups(world); !formed) return troupe::fail(formed.error());
  return trainer;
}

sharded_trainer::sharded_trainer(const troupe::communicator& world, const character_model& model,
                                 const sharded_trainer_options& options)
    : options_(options),
      rank_(world.rank().value),
      rank_count_(world.size()),
      group_size_(world.size() / options.group_count),
      pass_(model, options.row_count),
      losses_(world.size()) {
  for (std::size_t i = 0; i < model.bucket_count(); ++i) {
    const std::size_t count = model.parameter_count(i);
    const std::size_t shard_count = (count + group_size_ - 1) / group_size_;
    const std::size_t padded_count = shard_count * group_size_;
    buckets_.push_back({.count = count,
                        .shard_count = shard_count,
                        .parameters = std::vector<float>(padded_count),
                        .gradients = std::vector<float>(padded_count),
                        .optimizer = adam(shard_count)});
    model.initialise(i, options.seed, std::span(buckets_[i].parameters).first(count));
  }
}

/// Ranks 0 1 | 2 3 in groups of two: the groups are {0,1} and {2,3}, across are {0,2} and {1,3}.
outcome<void> sharded_trainer::form_groups(troupe::communicator& world) {
  const auto split = [&world](std::uint32_t colour,
                              std::unique_ptr<troupe::communicator>& into) -> outcome<void> {
    auto part = world.split({.colour = static_cast<std::int32_t>(colour),
                             .key = static_cast<std::int32_t>(world.rank().value)});
    if (!part) return troupe::fail(part.error());
    into = std::move(*part);
    return {};
  };
  const std::uint32_t group = rank_ / group_size_;
  const std::uint32_t place = rank_ % group_size_;
  if (auto done = split(group, in_group_); !done) return done;
  if (auto done = split(place, across_); !done) return done;
  if (auto done = split(group, gathering_); !done) return done;
  return split(0, everyone_);
}

outcome<double> sharded_trainer::step(const text_batch& batch, double learning_rate) {
  timeline_.begin_step();
  pass_.begin(batch.inputs, batch.targets);
  if (auto done = forward(); !done) return troupe::fail(done.error());
  if (auto done = start_loss_exchange(); !done) return troupe::fail(done.error());
  if (auto done = backward(learning_rate); !done) return troupe::fail(done.error());
  if (auto done = wait(losses_known_, 0); !done) return troupe::fail(done.error());
  timeline_.end_step();
  // Added up in the order of ranks: the same bits everywhere.
  return std::accumulate(losses_.begin(), losses_.end(), 0.0) / static_cast<double>(rank_count_);
}

outcome<void> sharded_trainer::finish() {
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    if (auto done = wait(buckets_[i].gathered, i); !done) return done;
  }
  timeline_.settle_previous_step();
  for (troupe::communicator* group :
       {in_group_.get(), across_.get(), gathering_.get(), everyone_.get()}) {
    if (auto left = group->finalize(longest_good_bye); !left) return left;
  }
  return {};
}

outcome<void> sharded_trainer::forward() {
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    if (auto done = wait(buckets_[i].gathered, i); !done) return done;
    const step_timeline::scope measured(timeline_, activity::forward, i);
    pass_.forward(i, parameters(i));
  }
  timeline_.settle_previous_step();
  return {};
}

outcome<void> sharded_trainer::start_loss_exchange() {
  {
    const step_timeline::scope measured(timeline_, activity::forward, buckets_.size() - 1);
    losses_[rank_] = pass_.loss();
  }
  auto work = everyone_->all_gather({.send = &losses_[rank_],
                                     .receive = losses_.data(),
                                     .count = 1,
                                     .type = troupe::data_type::float64});
  if (!work) return troupe::fail(work.error());
  losses_known_ = std::move(*work);
  return {};
}

/// While one bucket's backward computes, the gradients of those behind it travel.
outcome<void> sharded_trainer::backward(double learning_rate) {
  next_in_group_ = next_across_ = next_to_step_ = buckets_.size();
  for (; next_in_group_ > 0; --next_in_group_) {
    const std::size_t i = next_in_group_ - 1;
    {
      const step_timeline::scope measured(timeline_, activity::backward, i);
      pass_.backward(i, parameters(i), std::span(buckets_[i].gradients).first(buckets_[i].count));
    }
    if (auto done = start_reduce_scatter(i); !done) return done;
    if (auto done = advance(learning_rate); !done) return done;
  }
  while (next_to_step_ > 0) {
    if (auto done = wait_for_oldest(); !done) return done;
    if (auto done = advance(learning_rate); !done) return done;
  }
  return {};
}

/// Moves buckets on, in their order, as far as finished operations allow. A bucket that is ready
/// early waits for those before it: the order of calls must not depend on who was faster.
outcome<void> sharded_trainer::advance(double learning_rate) {
  while (next_across_ > next_in_group_ && buckets_[next_across_ - 1].in_group->test()) {
    if (auto done = start_all_reduce(next_across_ - 1); !done) return done;
    --next_across_;
  }
  while (next_to_step_ > next_across_ && buckets_[next_to_step_ - 1].across->test()) {
    if (auto done = step_and_gather(next_to_step_ - 1, learning_rate); !done) return done;
    --next_to_step_;
  }
  return {};
}

outcome<void> sharded_trainer::wait_for_oldest() {
  const std::size_t i = next_to_step_ - 1;
  return wait(next_to_step_ > next_across_ ? buckets_[i].across : buckets_[i].in_group, i);
}

outcome<void> sharded_trainer::start_reduce_scatter(std::size_t index) {
  bucket& b = buckets_[index];
  auto work = in_group_->reduce_scatter({.send = b.gradients.data(),
                                         .receive = own_shard(b.gradients).data(),
                                         .count = b.shard_count});
  if (!work) return troupe::fail(work.error());
  b.in_group = std::move(*work);
  timeline_.started(activity::reduce_scatter, index, b.in_group);
  return {};
}

outcome<void> sharded_trainer::start_all_reduce(std::size_t index) {
  bucket& b = buckets_[index];
  if (auto reduced = b.in_group->wait(); !reduced) return reduced;  // done: says how it ended
  if (options_.skip_all_reduce) {
    b.across = b.in_group;
    return {};
  }
  const std::span<float> shard = own_shard(b.gradients);
  // The algorithm is named so that all buckets are added in one order, whatever their size. For two
  // groups it sends no more bytes than a ring.
  auto work =
      across_->all_reduce({.send = shard.data(),
                           .receive = shard.data(),
                           .count = b.shard_count,
                           .options = {.algorithm = troupe::algorithm::recursive_doubling}});
  if (!work) return troupe::fail(work.error());
  b.across = std::move(*work);
  timeline_.started(activity::all_reduce, index, b.across);
  return {};
}

outcome<void> sharded_trainer::step_and_gather(std::size_t index, double learning_rate) {
  bucket& b = buckets_[index];
  if (auto reduced = b.across->wait(); !reduced) return reduced;  // done: says how it ended
  const std::span<float> shard = own_shard(b.parameters);
  {
    const step_timeline::scope measured(timeline_, activity::optimizer, index);
    b.optimizer.step(
        shard, own_shard(b.gradients),
        {.learning_rate = learning_rate, .gradient_scale = 1.0f / static_cast<float>(rank_count_)});
  }
  auto work = gathering_->all_gather(
      {.send = shard.data(), .receive = b.parameters.data(), .count = b.shard_count});
  if (!work) return troupe::fail(work.error());
  b.gathered = std::move(*work);
  timeline_.started(activity::all_gather, index, b.gathered);
  return {};
}

outcome<void> sharded_trainer::wait(const work_handle& work, std::size_t index) {
  if (work == nullptr) return {};  // the first step: nothing was gathered yet
  const step_timeline::scope measured(timeline_, activity::wait, index);
  return work->wait();
}

std::span<float> sharded_trainer::own_shard(std::vector<float>& values) const {
  const std::size_t shard_count = values.size() / group_size_;
  return std::span(values).subspan(rank_ % group_size_ * shard_count, shard_count);
}

std::span<const float> sharded_trainer::parameters(std::size_t index) const {
  return std::span(buckets_[index].parameters).first(buckets_[index].count);
}

}  // namespace examples
