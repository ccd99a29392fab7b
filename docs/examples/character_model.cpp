#include "docs/examples/character_model.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/assert.hpp"
#include "runtime/random.hpp"

namespace examples {
namespace {

/// The tensors of a bucket, one behind the other. `Float` is float or const float.
template <class Float>
struct embedding_parameters {
  Float* table;    // [symbols x embedding]
  Float* weights;  // [context * embedding x width]
  Float* bias;     // [width]

  embedding_parameters(const character_model& model, std::span<Float> bucket)
      : table(bucket.data()),
        weights(table + model.shape().symbol_count * model.embedding_width()),
        bias(weights + model.shape().context * model.embedding_width() * model.shape().width) {}
};

template <class Float>
struct block_parameters {
  Float* gain;    // [width]
  Float* offset;  // [width]
  Float* widen;   // [width x hidden]
  Float* widen_bias;
  Float* narrow;  // [hidden x width]
  Float* narrow_bias;

  block_parameters(const character_model& model, std::span<Float> bucket)
      : gain(bucket.data()),
        offset(gain + model.shape().width),
        widen(offset + model.shape().width),
        widen_bias(widen + model.shape().width * model.hidden_width()),
        narrow(widen_bias + model.hidden_width()),
        narrow_bias(narrow + model.hidden_width() * model.shape().width) {}
};

template <class Float>
struct head_parameters {
  Float* gain;     // [width]
  Float* offset;   // [width]
  Float* weights;  // [width x logits]
  Float* bias;     // [logits]

  head_parameters(const character_model& model, std::span<Float> bucket)
      : gain(bucket.data()),
        offset(gain + model.shape().width),
        weights(offset + model.shape().width),
        bias(weights + model.shape().width * model.shape().symbol_count) {}
};

/// Uniform with the given standard deviation.
void fill_random(float* values, std::size_t count, double deviation,
                 troupe::random_stream& random) {
  const double half_width = deviation * std::sqrt(3.0);
  for (std::size_t i = 0; i < count; ++i) {
    const double unit = static_cast<double>(random.next() >> 11) * 0x1p-53;
    values[i] = static_cast<float>((2.0 * unit - 1.0) * half_width);
  }
}

double inverse_root(std::size_t inputs) {
  return 1.0 / std::sqrt(static_cast<double>(inputs));
}

}  // namespace

character_model::character_model(const model_shape& shape) : shape_(shape) {
  TROUPE_ASSERT(shape.symbol_count <= 256);
}

std::size_t character_model::embedding_width() const {
  return 16;  // chosen: enough to tell a hundred symbols apart
}

std::size_t character_model::hidden_width() const {
  return 4 * shape_.width;
}

std::size_t character_model::parameter_count(std::size_t bucket) const {
  const std::size_t width = shape_.width;
  if (bucket == 0) {
    return shape_.symbol_count * embedding_width() +
           (shape_.context * embedding_width() + 1) * width;
  }
  if (bucket <= shape_.block_count)
    return 2 * width + (width + 1) * hidden_width() + (hidden_width() + 1) * width;
  return 2 * width + (width + 1) * shape_.symbol_count;
}

std::size_t character_model::parameter_count() const {
  std::size_t count = 0;
  for (std::size_t bucket = 0; bucket < bucket_count(); ++bucket)
    count += parameter_count(bucket);
  return count;
}

void character_model::initialise(std::size_t bucket, std::uint64_t seed,
                                 std::span<float> parameters) const {
  auto random = troupe::random_stream(seed).fork(bucket);
  std::fill(parameters.begin(), parameters.end(), 0.0f);
  if (bucket == 0) {
    const embedding_parameters<float> p(*this, parameters);
    const std::size_t inputs = shape_.context * embedding_width();
    fill_random(p.table, shape_.symbol_count * embedding_width(), 1.0, random);
    fill_random(p.weights, inputs * shape_.width, inverse_root(inputs), random);
  } else if (bucket <= shape_.block_count) {
    const block_parameters<float> p(*this, parameters);
    std::fill_n(p.gain, shape_.width, 1.0f);
    fill_random(p.widen, shape_.width * hidden_width(), inverse_root(shape_.width), random);
    fill_random(p.narrow, hidden_width() * shape_.width, inverse_root(hidden_width()), random);
  } else {
    const head_parameters<float> p(*this, parameters);
    std::fill_n(p.gain, shape_.width, 1.0f);
    fill_random(p.weights, shape_.width * shape_.symbol_count, inverse_root(shape_.width), random);
  }
}

model_pass::model_pass(const character_model& model, std::size_t row_count)
    : model_(&model), row_count_(row_count), blocks_(model.shape().block_count) {
  const model_shape& shape = model.shape();
  embedded_.resize(row_count * shape.context * model.embedding_width());
  stream_.resize(row_count * shape.width);
  for (residual_block& block : blocks_) {
    block.normalised.resize(row_count * shape.width);
    block.hidden.resize(row_count * model.hidden_width());
  }
  head_.normalised.resize(row_count * shape.width);
  logits_.resize(row_count * model.shape().symbol_count);
}

void model_pass::begin(std::span<const std::uint8_t> inputs,
                       std::span<const std::uint8_t> targets) {
  TROUPE_ASSERT(targets.size() == row_count_);
  TROUPE_ASSERT(inputs.size() == row_count_ * model_->shape().context);
  inputs_.assign(inputs.begin(), inputs.end());
  targets_.assign(targets.begin(), targets.end());
}

void model_pass::forward(std::size_t bucket, std::span<const float> parameters) {
  if (bucket == 0)
    embed_forward(parameters);
  else if (bucket <= blocks_.size())
    block_forward(blocks_[bucket - 1], parameters);
  else
    head_forward(parameters);
}

double model_pass::loss() {
  return softmax_cross_entropy(logits(), targets_);
}

void model_pass::backward(std::size_t bucket, std::span<const float> parameters,
                          std::span<float> gradients) {
  if (bucket == 0)
    embed_backward(parameters, gradients);
  else if (bucket <= blocks_.size())
    block_backward(blocks_[bucket - 1], parameters, gradients);
  else
    head_backward(parameters, gradients);
}

void model_pass::embed_forward(std::span<const float> parameters) {
  const embedding_parameters<const float> p(*model_, parameters);
  const std::size_t embedding = model_->embedding_width();
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    std::copy_n(p.table + inputs_[i] * embedding, embedding, &embedded_[i * embedding]);
  const std::size_t inputs = model_->shape().context * embedding;
  const std::size_t width = model_->shape().width;
  linear_forward(view(embedded_, inputs), {p.weights, inputs, width}, p.bias, view(stream_, width));
}

void model_pass::embed_backward(std::span<const float> parameters, std::span<float> gradients) {
  const embedding_parameters<const float> p(*model_, parameters);
  const embedding_parameters<float> g(*model_, gradients);
  const std::size_t embedding = model_->embedding_width();
  const std::size_t inputs = model_->shape().context * embedding;
  const std::size_t width = model_->shape().width;
  gradient_.assign(embedded_.size(), 0.0f);
  linear_backward(view(embedded_, inputs), {p.weights, inputs, width}, view(stream_, width),
                  {view(gradient_, inputs), {g.weights, inputs, width}, g.bias});
  std::fill_n(g.table, model_->shape().symbol_count * embedding, 0.0f);
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    for (std::size_t c = 0; c < embedding; ++c)
      g.table[inputs_[i] * embedding + c] += gradient_[i * embedding + c];
  }
}

void model_pass::block_forward(residual_block& block, std::span<const float> parameters) {
  const block_parameters<const float> p(*model_, parameters);
  const std::size_t width = model_->shape().width;
  const std::size_t hidden = model_->hidden_width();
  const matrix stream = view(stream_, width);
  layer_norm_forward(stream, {p.gain, p.offset}, block.norm, view(block.normalised, width));
  linear_forward(view(block.normalised, width), {p.widen, width, hidden}, p.widen_bias,
                 view(block.hidden, hidden));
  for (float& value : block.hidden)
    value = std::max(value, 0.0f);
  for (std::size_t r = 0; r < row_count_; ++r) {
    for (std::size_t c = 0; c < width; ++c)
      stream.row(r)[c] += p.narrow_bias[c];
  }
  multiply_add(view(block.hidden, hidden), {p.narrow, hidden, width}, stream);
}

void model_pass::block_backward(residual_block& block, std::span<const float> parameters,
                                std::span<float> gradients) {
  const block_parameters<const float> p(*model_, parameters);
  const block_parameters<float> g(*model_, gradients);
  const std::size_t width = model_->shape().width;
  const std::size_t hidden = model_->hidden_width();
  hidden_gradient_.assign(row_count_ * hidden, 0.0f);
  linear_backward(view(block.hidden, hidden), {p.narrow, hidden, width}, view(stream_, width),
                  {view(hidden_gradient_, hidden), {g.narrow, hidden, width}, g.narrow_bias});
  for (std::size_t i = 0; i < hidden_gradient_.size(); ++i)
    hidden_gradient_[i] = block.hidden[i] > 0.0f ? hidden_gradient_[i] : 0.0f;
  gradient_.assign(row_count_ * width, 0.0f);
  linear_backward(view(block.normalised, width), {p.widen, width, hidden},
                  view(hidden_gradient_, hidden),
                  {view(gradient_, width), {g.widen, width, hidden}, g.widen_bias});
  layer_norm_backward(block.norm, {p.gain, p.offset}, view(gradient_, width),
                      {g.gain, g.offset, view(stream_, width)});
}

void model_pass::head_forward(std::span<const float> parameters) {
  const head_parameters<const float> p(*model_, parameters);
  const std::size_t width = model_->shape().width;
  layer_norm_forward(view(stream_, width), {p.gain, p.offset}, head_.norm,
                     view(head_.normalised, width));
  linear_forward(view(head_.normalised, width), {p.weights, width, model_->shape().symbol_count},
                 p.bias, logits());
}

void model_pass::head_backward(std::span<const float> parameters, std::span<float> gradients) {
  const head_parameters<const float> p(*model_, parameters);
  const head_parameters<float> g(*model_, gradients);
  const std::size_t width = model_->shape().width;
  const std::size_t logit_count = model_->shape().symbol_count;
  gradient_.assign(row_count_ * width, 0.0f);
  linear_backward(view(head_.normalised, width), {p.weights, width, logit_count}, logits(),
                  {view(gradient_, width), {g.weights, width, logit_count}, g.bias});
  std::fill(stream_.begin(), stream_.end(), 0.0f);
  layer_norm_backward(head_.norm, {p.gain, p.offset}, view(gradient_, width),
                      {g.gain, g.offset, view(stream_, width)});
}

}  // namespace examples
