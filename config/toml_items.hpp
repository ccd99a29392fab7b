#pragma once

#include "config/option_text.hpp"
#include "runtime/result.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::config {

/// One thing that a file says: a value under its full name, or that a section exists.
struct toml_item {
  enum class kind : std::uint8_t { section, value };
  kind what = kind::value;
  std::string name;  ///< "transport" or "transport.segment_bytes"
  written_value value;
  std::uint32_t line = 0;
};

/// Longest file. Chosen: a hundred times every option with a comment.
inline constexpr std::size_t config_file_bytes_max = 1 << 20;

/// Most dots, brackets and braces of one statement. The format needs one; the parser recurses once
/// per level and would leave the stack on a header of some ten thousand names.
inline constexpr std::size_t statement_levels_max = 64;

/// Everything in the text, in the order of its lines.
/// Errors: bad_configuration with file, line and what the parser did not like. Never throws.
outcome<std::vector<toml_item>> read_toml(std::string_view text, std::string_view file_name);

}  // namespace troupe::config
