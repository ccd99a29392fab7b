#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace examples {

/// A row-major matrix in memory that somebody else owns.
struct matrix {
  float* data = nullptr;
  std::size_t rows = 0;
  std::size_t columns = 0;

  float* row(std::size_t r) const { return data + r * columns; }
  std::size_t size() const { return rows * columns; }
};

struct const_matrix {
  const float* data = nullptr;
  std::size_t rows = 0;
  std::size_t columns = 0;

  const_matrix() = default;
  const_matrix(const float* values, std::size_t row_count, std::size_t column_count)
      : data(values), rows(row_count), columns(column_count) {}
  const_matrix(const matrix& other) : const_matrix(other.data, other.rows, other.columns) {}

  const float* row(std::size_t r) const { return data + r * columns; }
};

/// target += left * right.
///
/// Shape: left[m x k], right[k x n], target[m x n]. Every element is summed in the order of k,
///        so that equal inputs give equal bits.
void multiply_add(const const_matrix& left, const const_matrix& right, const matrix& target);

/// The transpose of `source`, in `storage`, which is resized as needed.
const_matrix transposed(const const_matrix& source, std::vector<float>& storage);

/// output = input * weights + bias.
void linear_forward(const const_matrix& input, const const_matrix& weights, const float* bias,
                    const matrix& output);

struct linear_gradients {
  matrix input;  ///< without data: not wanted
  matrix weights;
  float* bias = nullptr;
};

/// Overwrites the gradients of weights and bias, adds to the gradient of the input.
void linear_backward(const const_matrix& input, const const_matrix& weights,
                     const const_matrix& output_gradient, const linear_gradients& gradients);

/// What backward needs to know of the forward pass: 1 / standard deviation of every row, and the
/// normalised rows before gain and offset.
struct normalised_rows {
  std::vector<float> scale;
  std::vector<float> values;
};

struct layer_norm_parameters {
  const float* gain = nullptr;
  const float* offset = nullptr;
};

struct layer_norm_gradients {
  float* gain = nullptr;
  float* offset = nullptr;
  matrix input;
};

/// output = gain * (input - mean) / deviation + offset, row by row.
void layer_norm_forward(const const_matrix& input, const layer_norm_parameters& parameters,
                        normalised_rows& kept, const matrix& output);

/// Overwrites the gradients of gain and offset, adds to the gradient of the input.
void layer_norm_backward(const normalised_rows& kept, const layer_norm_parameters& parameters,
                         const const_matrix& output_gradient,
                         const layer_norm_gradients& gradients);

/// Mean cross-entropy of softmax(logits) against the targets; turns the logits into the gradient
/// of that mean.
double softmax_cross_entropy(const matrix& logits, std::span<const std::uint8_t> targets);

}  // namespace examples
