#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "docs/examples/adam.hpp"
#include "docs/examples/character_model.hpp"
#include "docs/examples/text_corpus.hpp"
#include "runtime/communicator.hpp"

namespace examples {

/// One replica of a model that is trained by whoever is in a fault-tolerant communicator.
///
/// A step adds up the gradients of all rows, the loss of all rows and their number, in one
/// all_reduce. Whoever ends, the others' sums are over the same contributors, so their weights stay
/// equal bit for bit. A newcomer takes part in its first step with no rows, since it has no weights
/// yet, and gets them from the others after it.
class replica_trainer {
 public:
  replica_trainer(troupe::communicator& world, const character_model& model, std::size_t row_count,
                  std::uint64_t seed);

  struct step_result {
    double loss = 0.0;                       ///< mean over the rows of all contributors
    std::vector<troupe::rank> contributors;  ///< names
    troupe::epoch epoch;
  };

  /// No batch: this replica has no weights yet.
  troupe::outcome<step_result> step(const std::optional<text_batch>& batch, double learning_rate);

  /// The first member of the adopted epoch sends weights and moments to all; `steps` were made.
  troupe::outcome<void> share_state(std::size_t steps);

  /// Of the weights.
  std::uint64_t bits() const;

  std::span<const float> parameters(std::size_t bucket) const {
    return std::span(parameters_).subspan(offsets_[bucket], model_->parameter_count(bucket));
  }

 private:
  void compute(const text_batch& batch);

  troupe::communicator* world_;
  const character_model* model_;
  std::size_t row_count_;
  model_pass pass_;
  std::vector<std::size_t> offsets_;  ///< of each bucket
  std::vector<float> parameters_;
  adam optimizer_;
  /// Gradients of all parameters, then the loss, then the rows: sums over rows.
  std::vector<float> sums_;
};

}  // namespace examples
