#pragma once

#include "config/option_text.hpp"
#include "config/toml_tree.hpp"
#include "runtime/result.hpp"

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

/// Everything in the text, in the order of its lines.
/// Errors: bad_configuration with file, line and what the parser did not like. Never throws.
outcome<std::vector<toml_item>> read_toml(std::string_view text, std::string_view file_name);

}  // namespace troupe::config
