#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/toml_tree.hpp"
#include "runtime/instant.hpp"
#include "runtime/result.hpp"

namespace troupe::scenario::detail {

/// The first thing that is wrong with a text; later ones are not noted. What is missing counts
/// last: a key that is misspelt is wrong and makes another missing.
struct text_problem {
  std::string file_name;
  std::optional<failure> wrong;
  std::optional<failure> missing;

  void note(std::uint32_t line, const std::string& what);
  void note_missing(std::uint32_t line, const std::string& what);
  const std::optional<failure>& first() const { return wrong ? wrong : missing; }
};

/// Smallest and largest value of a number.
struct number_range {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

/// Reads the keys of one table, each with its type and range, and in the end refuses what nobody
/// asked for. A value that is wrong is noted and left as it was.
class table_reader {
 public:
  /// `name` is how texts call the table: "[workload]".
  table_reader(const config::toml_node& table, std::string name, text_problem& problem)
      : table_(table), name_(std::move(name)), problem_(problem) {}

  std::uint32_t line() const { return table_.line; }
  bool has(std::string_view key);

  /// Where `key` stands; that of the table if it does not.
  std::uint32_t line_of(std::string_view key) const;

  void number(std::string_view key, const number_range& range, std::uint32_t& out);
  void number(std::string_view key, const number_range& range, std::uint64_t& out);
  void number(std::string_view key, const number_range& range, std::optional<std::uint32_t>& out);
  void time(std::string_view key, duration& out);
  void time(std::string_view key, std::optional<duration>& out);
  void rate(std::string_view key, std::uint64_t& bytes_per_second);
  /// "2.5%" with the percent sign, of 1; 0 to `high`.
  void percent(std::string_view key, double high, double& out);
  void text(std::string_view key, std::string& out);
  void real(std::string_view key, std::optional<double>& out);
  /// The place of the word in `known`.
  void word(std::string_view key, std::span<const std::string_view> known, std::size_t& out);
  /// A word or a list of words.
  void words(std::string_view key, std::span<const std::string_view> known,
             std::vector<std::size_t>& out);
  /// A whole number or a list of them.
  void numbers(std::string_view key, const number_range& range, std::vector<std::uint32_t>& out);
  /// The table under `key`, which may be empty; null if it is not there.
  const config::toml_node* table(std::string_view key);
  /// The tables of [[key]].
  std::vector<const config::toml_node*> tables(std::string_view key);

  /// The value under `key` whatever it is; null if it is not there.
  const config::toml_node* take(std::string_view key);
  void note(std::string_view key, const std::string& what);
  /// Something that the table lacks.
  void note_missing(const std::string& what);

  /// Every key that was not asked for is wrong.
  void finish();

 private:
  const config::toml_node* take_as(std::string_view key, config::toml_node::form wanted,
                                   std::string_view shown);
  std::optional<std::uint64_t> whole(const config::toml_node& node, std::string_view key,
                                     const number_range& range);
  std::optional<std::size_t> place_of(const config::toml_node& node, std::string_view key,
                                      std::span<const std::string_view> known);

  const config::toml_node& table_;
  std::string name_;
  text_problem& problem_;
  std::vector<std::string_view> known_;
};

}  // namespace troupe::scenario::detail
