#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "docs/examples/dense_layers.hpp"

namespace examples {

/// Sizes of the network.
struct model_shape {
  std::size_t symbol_count = 0;  ///< of the corpus; at most 256
  std::size_t context = 32;      ///< characters the model sees
  std::size_t width = 128;       ///< of the residual stream
  std::size_t block_count = 3;
};

/// A character-level language model: which character follows `context` given ones?
///
///   bucket 0               embedding of each character, then one linear layer into the stream
///   buckets 1..block_count stream += linear(relu(linear(layer_norm(stream))))
///   last bucket            layer_norm, then a linear layer to one logit per symbol
///
/// It knows nothing of ranks. Its parameters come as *buckets*: runs of float32 that are used,
/// differentiated and communicated together. Who owns their memory is the trainer's business.
///
/// Thread: immutable, any.
class character_model {
 public:
  explicit character_model(const model_shape& shape);

  const model_shape& shape() const { return shape_; }
  std::size_t bucket_count() const { return shape_.block_count + 2; }
  std::size_t parameter_count(std::size_t bucket) const;
  std::size_t parameter_count() const;

  /// Starting values of one bucket: the same for the same seed on every rank.
  void initialise(std::size_t bucket, std::uint64_t seed, std::span<float> parameters) const;

  std::size_t embedding_width() const;
  std::size_t hidden_width() const;

 private:
  model_shape shape_;
};

/// One micro-batch on its way through the model: the activations of forward that backward needs.
/// Buckets are passed one at a time, forward in ascending and backward in descending order, so
/// that the caller can wait for the parameters of a bucket just before, and send off its gradients
/// right after.
class model_pass {
 public:
  model_pass(const character_model& model, std::size_t row_count);

  /// Takes the characters: `inputs` holds `context` of them for each row, `targets` one.
  void begin(std::span<const std::uint8_t> inputs, std::span<const std::uint8_t> targets);

  void forward(std::size_t bucket, std::span<const float> parameters);

  /// Mean cross-entropy of the rows, in nats. After the last bucket's forward, before backward.
  double loss();

  /// Writes the gradient of the mean loss with respect to the bucket's parameters.
  void backward(std::size_t bucket, std::span<const float> parameters, std::span<float> gradients);

  /// One row per example, after the last bucket's forward; the gradients of it after `loss`.
  matrix logits() { return view(logits_, model_->shape().symbol_count); }

 private:
  struct residual_block {
    normalised_rows norm;
    std::vector<float> normalised;
    std::vector<float> hidden;
  };

  void embed_forward(std::span<const float> parameters);
  void embed_backward(std::span<const float> parameters, std::span<float> gradients);
  void block_forward(residual_block& block, std::span<const float> parameters);
  void block_backward(residual_block& block, std::span<const float> parameters,
                      std::span<float> gradients);
  void head_forward(std::span<const float> parameters);
  void head_backward(std::span<const float> parameters, std::span<float> gradients);

  matrix view(std::vector<float>& values, std::size_t columns) const {
    return {values.data(), row_count_, columns};
  }

  const character_model* model_;
  std::size_t row_count_;
  std::vector<std::uint8_t> inputs_;
  std::vector<std::uint8_t> targets_;
  std::vector<float> embedded_;
  std::vector<float> stream_;  ///< the residual stream; its gradient during backward
  std::vector<residual_block> blocks_;
  residual_block head_;
  std::vector<float> logits_;
  std::vector<float> gradient_;  ///< of the tensor being differentiated
  std::vector<float> hidden_gradient_;
};

}  // namespace examples
