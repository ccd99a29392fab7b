#include "docs/examples/adam.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace examples {
namespace {

constexpr float mean_decay = 0.9f;
constexpr float square_decay = 0.99f;  // chosen: runs here are a few hundred steps long
constexpr float smallest_root = 1e-8f;
constexpr std::size_t warm_up_steps = 20;

}  // namespace

double learning_schedule::rate(std::size_t step) const {
  const double warm_up =
      std::min(1.0, static_cast<double>(step + 1) / static_cast<double>(warm_up_steps));
  const double progress = static_cast<double>(step) / static_cast<double>(step_count);
  return peak * warm_up * (0.55 + 0.45 * std::cos(std::numbers::pi * progress));
}

void adam::step(std::span<float> parameters, std::span<const float> gradients,
                const step_options& options) {
  ++steps_;
  const double age = static_cast<double>(steps_);
  const auto rate =
      static_cast<float>(options.learning_rate / (1.0 - std::pow(double{mean_decay}, age)));
  const auto square_scale = static_cast<float>(1.0 / (1.0 - std::pow(double{square_decay}, age)));
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const float gradient = gradients[i] * options.gradient_scale;
    mean_[i] = mean_decay * mean_[i] + (1.0f - mean_decay) * gradient;
    square_[i] = square_decay * square_[i] + (1.0f - square_decay) * gradient * gradient;
    parameters[i] -= rate * mean_[i] / (std::sqrt(square_[i] * square_scale) + smallest_root);
  }
}

}  // namespace examples
