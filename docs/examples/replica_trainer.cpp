#include "docs/examples/replica_trainer.hpp"

#include <algorithm>
#include <cstring>

namespace examples {

replica_trainer::replica_trainer(troupe::communicator& world, const character_model& model,
                                 std::size_t row_count, std::uint64_t seed)
    : world_(&world),
      model_(&model),
      row_count_(row_count),
      pass_(model, row_count),
      parameters_(model.parameter_count()),
      optimizer_(model.parameter_count()),
      sums_(model.parameter_count() + 2) {
  std::size_t at = 0;
  for (std::size_t bucket = 0; bucket < model.bucket_count(); ++bucket) {
    offsets_.push_back(at);
    const auto count = model.parameter_count(bucket);
    model.initialise(bucket, seed, std::span(parameters_).subspan(at, count));
    at += count;
  }
}

void replica_trainer::compute(const text_batch& batch) {
  pass_.begin(batch.inputs, batch.targets);
  for (std::size_t bucket = 0; bucket < offsets_.size(); ++bucket)
    pass_.forward(bucket, parameters(bucket));
  const double loss = pass_.loss();
  for (std::size_t bucket = offsets_.size(); bucket-- > 0;)
    pass_.backward(bucket, parameters(bucket),
                   std::span(sums_).subspan(offsets_[bucket], model_->parameter_count(bucket)));
  const auto rows = static_cast<float>(row_count_);
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    sums_[i] *= rows;
  sums_[parameters_.size()] = static_cast<float>(loss) * rows;
  sums_[parameters_.size() + 1] = rows;
}

troupe::outcome<replica_trainer::step_result> replica_trainer::step(
    const std::optional<text_batch>& batch, double learning_rate) {
  if (batch)
    compute(*batch);
  else
    std::fill(sums_.begin(), sums_.end(), 0.0f);
  const auto work =
      world_->all_reduce({.send = sums_.data(), .receive = sums_.data(), .count = sums_.size()});
  if (!work) return troupe::fail(work.error());
  if (const auto done = (*work)->wait(); !done) return troupe::fail(done.error());
  const float rows = sums_.back();
  if (batch)
    optimizer_.step(parameters_, std::span(sums_).first(parameters_.size()),
                    {.learning_rate = learning_rate, .gradient_scale = 1.0f / rows});
  return step_result{static_cast<double>(sums_[parameters_.size()]) / static_cast<double>(rows),
                     (*work)->contributors(), (*work)->epoch()};
}

troupe::outcome<void> replica_trainer::share_state(std::size_t steps) {
  for (const auto part : {std::span(parameters_), optimizer_.mean(), optimizer_.square()}) {
    const auto work = world_->broadcast({.buffer = part.data(), .count = part.size()});
    if (!work) return troupe::fail(work.error());
    if (const auto done = (*work)->wait(); !done) return troupe::fail(done.error());
  }
  optimizer_.set_steps(steps);
  return {};
}

std::uint64_t replica_trainer::bits() const {
  std::uint64_t hash = 14695981039346656037ull;
  for (const float value : parameters_) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    hash = (hash ^ bits) * 1099511628211ull;
  }
  return hash;
}

}  // namespace examples
