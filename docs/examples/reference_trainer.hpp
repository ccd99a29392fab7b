#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "docs/examples/adam.hpp"
#include "docs/examples/character_model.hpp"
#include "docs/examples/text_corpus.hpp"

namespace examples {

struct reference_trainer_options {
  std::uint32_t rank_count = 4;  ///< the job that is imitated
  std::uint32_t group_count = 2;
  std::size_t row_count = 0;  ///< rows of the global batch that one rank computes
  std::uint64_t seed = 0;
};

/// The same training in one process, without Troupe: what `sharded_trainer` is compared with.
///
/// It computes the gradient of every rank's rows on its own, then adds them up in the order in
/// which the job does: inside each group, then across the groups. So every bit is that of the job.
///
/// Rows are computed on as many threads as the machine has cores; nothing depends on their number.
class reference_trainer {
 public:
  reference_trainer(const character_model& model, const reference_trainer_options& options);

  /// One step: one batch per rank of the imitated job. Returns the mean loss.
  double step(std::span<const text_batch> batches, double learning_rate);

  std::span<const float> parameters(std::size_t bucket) const { return parameters_[bucket]; }

 private:
  /// The part of one imitated rank.
  struct member {
    model_pass pass;
    std::vector<std::vector<float>> gradients;  ///< by bucket
    double loss = 0.0;
  };

  void compute(const text_batch& batch, member& of) const;
  /// The sum over all members, valid until the next call.
  std::span<const float> add_up(std::size_t bucket);

  const character_model* model_;
  reference_trainer_options options_;
  std::vector<std::vector<float>> parameters_;
  std::vector<adam> optimizers_;
  std::vector<member> members_;
  std::vector<std::vector<float>> group_sums_;
  std::vector<float> sum_;
};

}  // namespace examples
