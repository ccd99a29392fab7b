#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace examples {

/// The step size of every step: a short warm-up, then half a cosine down to a tenth.
struct learning_schedule {
  double peak = 6e-3;
  std::size_t step_count = 0;

  double rate(std::size_t step) const;
};

/// Adam for one run of parameters: all of a bucket, or a rank's shard of it. Each element is
/// treated on its own, so that shards together do exactly what the whole would.
/// Source: Kingma and Ba, ICLR 2015.
class adam {
 public:
  explicit adam(std::size_t count) : mean_(count), square_(count) {}

  struct step_options {
    double learning_rate = 0.0;
    float gradient_scale = 1.0f;  ///< turns a sum of gradients into their average
  };

  void step(std::span<float> parameters, std::span<const float> gradients,
            const step_options& options);

  /// The moments, and the steps that made them: with them a process that comes in late goes on as
  /// the others do.
  std::span<float> mean() { return mean_; }
  std::span<float> square() { return square_; }
  void set_steps(std::size_t steps) { steps_ = steps; }

 private:
  std::size_t steps_ = 0;
  std::vector<float> mean_;
  std::vector<float> square_;
};

}  // namespace examples
