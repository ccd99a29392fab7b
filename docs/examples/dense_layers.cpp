#include "docs/examples/dense_layers.hpp"

#include <algorithm>
#include <cmath>

namespace examples {
namespace {

constexpr float smallest_variance = 1e-5f;  // chosen: keeps a constant row finite

/// target += factors[0..3] * four rows of `right`: loads and stores a sum once for four products.
void add_four_rows(const float* factors, const float* right, std::size_t columns,
                   float* __restrict target) {
  const float a = factors[0], b = factors[1], c = factors[2], d = factors[3];
  const float* const right_a = right;
  const float* const right_b = right_a + columns;
  const float* const right_c = right_b + columns;
  const float* const right_d = right_c + columns;
  for (std::size_t i = 0; i < columns; ++i)
    target[i] += a * right_a[i] + b * right_b[i] + c * right_c[i] + d * right_d[i];
}

void add_row(float factor, const float* right, std::size_t columns, float* __restrict target) {
  for (std::size_t i = 0; i < columns; ++i)
    target[i] += factor * right[i];
}

void sum_rows(const const_matrix& source, float* sums) {
  std::fill_n(sums, source.columns, 0.0f);
  for (std::size_t r = 0; r < source.rows; ++r) {
    for (std::size_t c = 0; c < source.columns; ++c)
      sums[c] += source.row(r)[c];
  }
}

}  // namespace

void multiply_add(const const_matrix& left, const const_matrix& right, const matrix& target) {
  std::size_t k = 0;
  for (; k + 4 <= left.columns; k += 4) {  // these rows of `right` stay in the first-level cache
    for (std::size_t r = 0; r < left.rows; ++r)
      add_four_rows(left.row(r) + k, right.row(k), right.columns, target.row(r));
  }
  for (; k < left.columns; ++k) {
    for (std::size_t r = 0; r < left.rows; ++r)
      add_row(left.row(r)[k], right.row(k), right.columns, target.row(r));
  }
}

const_matrix transposed(const const_matrix& source, std::vector<float>& storage) {
  storage.resize(source.rows * source.columns);
  constexpr std::size_t block = 16;  // chosen: a block of both sides fits the first-level cache
  for (std::size_t top = 0; top < source.rows; top += block) {
    const std::size_t bottom = std::min(top + block, source.rows);
    for (std::size_t c = 0; c < source.columns; ++c) {
      for (std::size_t r = top; r < bottom; ++r)
        storage[c * source.rows + r] = source.row(r)[c];
    }
  }
  return {storage.data(), source.columns, source.rows};
}

void linear_forward(const const_matrix& input, const const_matrix& weights, const float* bias,
                    const matrix& output) {
  for (std::size_t r = 0; r < output.rows; ++r)
    std::copy_n(bias, output.columns, output.row(r));
  multiply_add(input, weights, output);
}

void linear_backward(const const_matrix& input, const const_matrix& weights,
                     const const_matrix& output_gradient, const linear_gradients& gradients) {
  std::vector<float> storage;
  std::fill_n(gradients.weights.data, gradients.weights.size(), 0.0f);
  multiply_add(transposed(input, storage), output_gradient, gradients.weights);
  sum_rows(output_gradient, gradients.bias);
  if (gradients.input.data != nullptr)
    multiply_add(output_gradient, transposed(weights, storage), gradients.input);
}

void layer_norm_forward(const const_matrix& input, const layer_norm_parameters& parameters,
                        normalised_rows& kept, const matrix& output) {
  const auto width = static_cast<float>(input.columns);
  kept.scale.resize(input.rows);
  kept.values.resize(input.rows * input.columns);
  for (std::size_t r = 0; r < input.rows; ++r) {
    const float* x = input.row(r);
    float mean = 0.0f;
    for (std::size_t c = 0; c < input.columns; ++c)
      mean += x[c];
    mean /= width;
    float variance = 0.0f;
    for (std::size_t c = 0; c < input.columns; ++c)
      variance += (x[c] - mean) * (x[c] - mean);
    const float scale = 1.0f / std::sqrt(variance / width + smallest_variance);
    kept.scale[r] = scale;
    float* values = &kept.values[r * input.columns];
    for (std::size_t c = 0; c < input.columns; ++c) {
      values[c] = (x[c] - mean) * scale;
      output.row(r)[c] = parameters.gain[c] * values[c] + parameters.offset[c];
    }
  }
}

void layer_norm_backward(const normalised_rows& kept, const layer_norm_parameters& parameters,
                         const const_matrix& output_gradient,
                         const layer_norm_gradients& gradients) {
  const std::size_t columns = output_gradient.columns;
  const auto width = static_cast<float>(columns);
  sum_rows(output_gradient, gradients.offset);
  std::fill_n(gradients.gain, columns, 0.0f);
  for (std::size_t r = 0; r < output_gradient.rows; ++r) {
    const float* dy = output_gradient.row(r);
    const float* values = &kept.values[r * columns];
    float mean = 0.0f;
    float projection = 0.0f;
    for (std::size_t c = 0; c < columns; ++c) {
      gradients.gain[c] += dy[c] * values[c];
      mean += dy[c] * parameters.gain[c];
      projection += dy[c] * parameters.gain[c] * values[c];
    }
    mean /= width;
    projection /= width;
    float* dx = gradients.input.row(r);
    for (std::size_t c = 0; c < columns; ++c)
      dx[c] += kept.scale[r] * (dy[c] * parameters.gain[c] - mean - values[c] * projection);
  }
}

double softmax_cross_entropy(const matrix& logits, std::span<const std::uint8_t> targets) {
  double loss = 0.0;
  const float share = 1.0f / static_cast<float>(logits.rows);
  for (std::size_t r = 0; r < logits.rows; ++r) {
    float* row = logits.row(r);
    const float largest = *std::max_element(row, row + logits.columns);
    const float target_logit = row[targets[r]];
    float sum = 0.0f;
    for (std::size_t c = 0; c < logits.columns; ++c) {
      row[c] = std::exp(row[c] - largest);
      sum += row[c];
    }
    loss += std::log(sum) - (target_logit - largest);
    for (std::size_t c = 0; c < logits.columns; ++c)
      row[c] *= share / sum;
    row[targets[r]] -= share;
  }
  return loss / static_cast<double>(logits.rows);
}

}  // namespace examples
