#include "docs/examples/text_sampler.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "runtime/random.hpp"

namespace examples {
namespace {

std::uint8_t draw_symbol(std::span<const float> logits, double temperature,
                         troupe::random_stream& random) {
  const double largest = *std::max_element(logits.begin(), logits.end());
  std::array<double, 256> weights{};
  double sum = 0.0;
  for (std::size_t i = 0; i < logits.size(); ++i)
    sum += weights[i] = std::exp((double{logits[i]} - largest) / temperature);
  double left = sum * static_cast<double>(random.next() >> 11) * 0x1p-53;
  std::size_t symbol = 0;
  while (symbol + 1 < logits.size() && left >= weights[symbol])
    left -= weights[symbol++];
  return static_cast<std::uint8_t>(symbol);
}

}  // namespace

std::string sample_text(const character_model& model, const text_corpus& corpus,
                        std::span<const std::span<const float>> parameters,
                        const sample_options& options) {
  const std::array<std::uint8_t, 1> no_target{};
  troupe::random_stream random(options.seed);
  model_pass pass(model, 1);
  const std::size_t context = model.shape().context;
  const auto prompt = std::span(corpus.symbols()).subspan((corpus.size() - context) / 2, context);
  std::vector<std::uint8_t> window(prompt.begin(), prompt.end());
  std::string text;
  for (const std::uint8_t symbol : prompt)
    text.push_back(corpus.character(symbol));
  text += ">>";
  for (std::size_t i = 0; i < options.length; ++i) {
    pass.begin(window, no_target);
    for (std::size_t bucket = 0; bucket < parameters.size(); ++bucket)
      pass.forward(bucket, parameters[bucket]);
    const std::uint8_t symbol =
        draw_symbol({pass.logits().data, corpus.symbol_count()}, options.temperature, random);
    text.push_back(corpus.character(symbol));
    std::rotate(window.begin(), window.begin() + 1, window.end());
    window.back() = symbol;
  }
  return text;
}

}  // namespace examples
