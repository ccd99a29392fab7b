#include "docs/examples/reference_trainer.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

#include "docs/examples/summation_order.hpp"
#include "runtime/assert.hpp"

namespace examples {
reference_trainer::reference_trainer(const character_model& model,
                                     const reference_trainer_options& options)
    : model_(&model), options_(options), group_sums_(options.group_count) {
  for (std::uint32_t i = 0; i < options.rank_count; ++i)
    members_.push_back({.pass = model_pass(model, options.row_count), .gradients = {}});
  for (std::size_t bucket = 0; bucket < model.bucket_count(); ++bucket) {
    const std::size_t count = model.parameter_count(bucket);
    parameters_.emplace_back(count);
    optimizers_.emplace_back(count);
    model.initialise(bucket, options.seed, parameters_[bucket]);
    for (member& each : members_)
      each.gradients.emplace_back(count);
  }
}

double reference_trainer::step(std::span<const text_batch> batches, double learning_rate) {
  TROUPE_ASSERT(batches.size() == members_.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < members_.size(); i = next++)
      compute(batches[i], members_[i]);
  };
  {
    const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
    std::vector<std::jthread> workers(std::min(cores, members_.size()) - 1);
    for (std::jthread& each : workers)
      each = std::jthread(work);
    work();
  }

  double loss = 0.0;
  for (const member& each : members_)
    loss += each.loss;
  for (std::size_t bucket = 0; bucket < parameters_.size(); ++bucket) {
    optimizers_[bucket].step(parameters_[bucket], add_up(bucket),
                             {.learning_rate = learning_rate,
                              .gradient_scale = 1.0f / static_cast<float>(members_.size())});
  }
  return loss / static_cast<double>(members_.size());
}

void reference_trainer::compute(const text_batch& batch, member& of) const {
  of.pass.begin(batch.inputs, batch.targets);
  for (std::size_t bucket = 0; bucket < parameters_.size(); ++bucket)
    of.pass.forward(bucket, parameters_[bucket]);
  of.loss = of.pass.loss();
  for (std::size_t bucket = parameters_.size(); bucket-- > 0;)
    of.pass.backward(bucket, parameters_[bucket], of.gradients[bucket]);
}

std::span<const float> reference_trainer::add_up(std::size_t bucket) {
  const std::size_t count = parameters_[bucket].size();
  const std::size_t group_size = members_.size() / options_.group_count;
  const std::size_t shard_count = (count + group_size - 1) / group_size;
  std::vector<const float*> terms(group_size);
  for (std::size_t group = 0; group < group_sums_.size(); ++group) {
    group_sums_[group].resize(count);
    for (std::size_t place = 0; place < group_size; ++place) {
      const std::size_t begin = std::min(place * shard_count, count);
      const std::size_t end = std::min(begin + shard_count, count);
      for (std::size_t i = 0; i < group_size; ++i)
        terms[i] = members_[group * group_size + i].gradients[bucket].data() + begin;
      add_like_reduce_scatter(terms, place,
                              std::span(group_sums_[group]).subspan(begin, end - begin));
    }
  }
  terms.clear();
  for (const std::vector<float>& sum : group_sums_)
    terms.push_back(sum.data());
  sum_.resize(count);
  add_like_recursive_doubling(terms, sum_);
  return sum_;
}

}  // namespace examples
