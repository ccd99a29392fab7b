#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "docs/examples/character_model.hpp"
#include "docs/examples/text_corpus.hpp"

namespace examples {

struct sample_options {
  std::size_t length = 320;
  double temperature = 0.6;  ///< below 1: prefer what is probable
  std::uint64_t seed = 0;
};

/// A piece from the middle of the corpus, ">>", and how the model goes on from there, one character
/// after the other.
std::string sample_text(const character_model& model, const text_corpus& corpus,
                        std::span<const std::span<const float>> parameters,
                        const sample_options& options);

}  // namespace examples
