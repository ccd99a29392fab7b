#define BOOST_TEST_MODULE character_model
#include "docs/examples/character_model.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include "docs/examples/dense_layers.hpp"
#include "runtime/random.hpp"

namespace {

using examples::character_model;
using examples::model_pass;

constexpr std::size_t row_count = 6;
constexpr examples::model_shape shape{
    .symbol_count = 21, .context = 3, .width = 16, .block_count = 2};

struct fixture {
  character_model model{shape};
  model_pass pass{model, row_count};
  std::vector<std::vector<float>> parameters;
  std::vector<std::uint8_t> inputs;
  std::vector<std::uint8_t> targets;

  fixture() {
    for (std::size_t bucket = 0; bucket < model.bucket_count(); ++bucket) {
      parameters.emplace_back(model.parameter_count(bucket));
      model.initialise(bucket, 7, parameters.back());
      // Away from the zeros and ones of the start, so that every term of a gradient counts.
      troupe::random_stream random(bucket);
      for (float& value : parameters.back())
        value += static_cast<float>(random.below(1000)) * 1e-4f - 0.05f;
      if (bucket > 0 && bucket <= shape.block_count) switch_units(parameters.back());
    }
    troupe::random_stream random(3);
    for (std::size_t i = 0; i < row_count * shape.context; ++i)
      inputs.push_back(static_cast<std::uint8_t>(random.below(shape.symbol_count)));
    for (std::size_t i = 0; i < row_count; ++i)
      targets.push_back(static_cast<std::uint8_t>(random.below(shape.symbol_count)));
  }

  /// Every other hidden unit on, the others off, by their bias: a unit that switched between the
  /// two sides of a numerical derivative would spoil it.
  void switch_units(std::vector<float>& block) const {
    const std::size_t first = (2 + model.hidden_width()) * shape.width;
    for (std::size_t i = 0; i < model.hidden_width(); ++i)
      block[first + i] = i % 2 == 0 ? 4.0f : -4.0f;
  }

  double loss() {
    pass.begin(inputs, targets);
    for (std::size_t bucket = 0; bucket < parameters.size(); ++bucket)
      pass.forward(bucket, parameters[bucket]);
    return pass.loss();
  }

  std::vector<std::vector<float>> gradients() {
    loss();
    std::vector<std::vector<float>> result(parameters.size());
    for (std::size_t bucket = parameters.size(); bucket-- > 0;) {
      result[bucket].assign(parameters[bucket].size(), std::nanf(""));
      pass.backward(bucket, parameters[bucket], result[bucket]);
    }
    return result;
  }

  double numerical_gradient(std::size_t bucket, std::size_t index) {
    constexpr float step = 4e-3f;
    float& value = parameters[bucket][index];
    const float kept = value;
    value = kept + step;
    const double above = loss();
    value = kept - step;
    const double below = loss();
    value = kept;
    return (above - below) / (2.0 * double{step});
  }
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(backward_is_the_derivative_of_the_loss_for_every_parameter, fixture) {
  const auto exact = gradients();
  for (std::size_t bucket = 0; bucket < parameters.size(); ++bucket) {
    double square_sum = 0.0;
    double largest_difference = 0.0;
    for (std::size_t i = 0; i < parameters[bucket].size(); ++i) {
      const double gradient = exact[bucket][i];
      square_sum += gradient * gradient;
      largest_difference =
          std::max(largest_difference, std::abs(gradient - numerical_gradient(bucket, i)));
    }
    const double typical = std::sqrt(square_sum / static_cast<double>(parameters[bucket].size()));
    BOOST_TEST_INFO("bucket " << bucket << ", largest difference " << largest_difference
                              << ", typical gradient " << typical);
    BOOST_TEST(largest_difference < 0.01 * typical);
  }
}

BOOST_FIXTURE_TEST_CASE(the_same_batch_gives_the_same_bits_again, fixture) {
  const auto first = gradients();
  BOOST_TEST((first == gradients()));
}

BOOST_FIXTURE_TEST_CASE(a_bucket_is_covered_by_its_gradient_exactly, fixture) {
  for (const auto& bucket : gradients())
    BOOST_TEST(std::none_of(bucket.begin(), bucket.end(), [](float g) { return std::isnan(g); }));
}

BOOST_AUTO_TEST_CASE(a_product_with_odd_rows_equals_the_sum_by_hand) {
  constexpr std::size_t rows = 7, depth = 5, columns = 32;
  std::vector<float> left(rows * depth), right(depth * columns), target(rows * columns, 1.0f);
  for (std::size_t i = 0; i < left.size(); ++i)
    left[i] = static_cast<float>(i % 11);
  for (std::size_t i = 0; i < right.size(); ++i)
    right[i] = static_cast<float>(i % 13);
  examples::multiply_add({left.data(), rows, depth}, {right.data(), depth, columns},
                         {target.data(), rows, columns});
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      float sum = 1.0f;
      for (std::size_t k = 0; k < depth; ++k)
        sum += left[r * depth + k] * right[k * columns + c];
      BOOST_TEST(target[r * columns + c] == sum);
    }
  }
}
