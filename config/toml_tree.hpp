#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/result.hpp"

namespace troupe::config {

struct toml_entry;

/// A value of a TOML text, and where it stands.
struct toml_node {
  enum class form : std::uint8_t { string, integer, real, boolean, list, table, date_or_time };
  form what = form::table;
  std::string text;                 ///< string
  std::int64_t integer = 0;         ///< integer
  double real = 0;                  ///< real
  bool boolean = false;             ///< boolean
  std::vector<toml_node> items;     ///< list, in order
  std::vector<toml_entry> entries;  ///< table, in the order of their lines
  std::uint32_t line = 0;
};

/// A key of a table, and its value.
struct toml_entry {
  std::string key;
  toml_node value;
  std::uint32_t line = 0;  ///< of the key
};

/// "a string", "a whole number", "a list": for texts that say what was found.
std::string_view to_string(toml_node::form what);

/// The value of `key` in a table; null if it is not there.
const toml_node* find(const toml_node& table, std::string_view key);

/// Longest text. Chosen: a hundred times every option with a comment.
inline constexpr std::size_t config_file_bytes_max = 1 << 20;

/// Most dots, brackets and braces of one statement. Options need one level, scenarios four; the
/// parser recurses once per level and would leave the stack on a header of some ten thousand names.
inline constexpr std::size_t statement_levels_max = 64;

/// The whole text as one table. A key that comes twice is an error.
/// Errors: bad_configuration with file, line and what the parser did not like. Never throws.
outcome<toml_node> read_toml_tree(std::string_view text, std::string_view file_name);

}  // namespace troupe::config
