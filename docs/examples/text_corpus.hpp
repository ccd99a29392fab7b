#pragma once

#include <tl/expected.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace examples {

/// Which rows of which step's global batch, so that every rank can draw its own part of it.
struct batch_request {
  std::uint64_t seed = 0;
  std::size_t step = 0;
  std::size_t first_row = 0;
  std::size_t row_count = 0;
  std::size_t context = 0;
};

/// Rows of `context` characters, and for each row the character that follows.
struct text_batch {
  std::vector<std::uint8_t> inputs;
  std::vector<std::uint8_t> targets;
};

/// A text as numbers: each distinct byte is one symbol. A run of blanks counts as one: a small
/// model has better things to learn than how a title is centred.
class text_corpus {
 public:
  /// The file at `path`; if that is empty, the licence texts that Debian and Ubuntu install
  /// (/usr/share/common-licenses), in the order of their names. Errors are sentences.
  static tl::expected<text_corpus, std::string> load(const std::string& path);

  explicit text_corpus(std::string_view original);

  std::size_t size() const { return symbols_.size(); }
  std::size_t symbol_count() const { return alphabet_.size(); }
  const std::vector<std::uint8_t>& symbols() const { return symbols_; }
  char character(std::uint8_t symbol) const { return alphabet_[symbol]; }

  /// Equal for equal texts: ranks compare it before they train.
  std::uint64_t fingerprint() const;

  /// Each row begins at a place drawn from (seed, step, row) alone: whoever draws row 17 of step 3
  /// gets the same characters.
  text_batch draw(const batch_request& request) const;

 private:
  std::string alphabet_;
  std::vector<std::uint8_t> symbols_;
};

}  // namespace examples
