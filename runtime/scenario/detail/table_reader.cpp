#include "runtime/scenario/detail/table_reader.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "config/nearest_name.hpp"
#include "config/quantity.hpp"
#include "config/text_forms.hpp"

namespace troupe::scenario::detail {
namespace {

using form = config::toml_node::form;

// Chosen: a line of an error stays a line.
constexpr std::size_t shown_bytes_max = 80;

std::string quoted(std::string_view text) {
  return '"' + config::printable(text.substr(0, shown_bytes_max)) +
         (text.size() > shown_bytes_max ? "...\"" : "\"");
}

std::string list(std::span<const std::string_view> names) {
  std::string text;
  for (const std::string_view name : names)
    text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

}  // namespace

void text_problem::note(std::uint32_t line, const std::string& what) {
  if (wrong) return;
  wrong = failure(errc::bad_configuration, file_name + ':' + std::to_string(line) + ": " + what);
}

void text_problem::note_missing(std::uint32_t line, const std::string& what) {
  if (missing) return;
  missing = failure(errc::bad_configuration, file_name + ':' + std::to_string(line) + ": " + what);
}

const config::toml_node* table_reader::take(std::string_view key) {
  known_.push_back(key);
  return config::find(table_, key);
}

bool table_reader::has(std::string_view key) {
  return config::find(table_, key) != nullptr;
}

std::uint32_t table_reader::line_of(std::string_view key) const {
  for (const config::toml_entry& entry : table_.entries)
    if (entry.key == key) return entry.line;
  return table_.line;
}

void table_reader::note(std::string_view key, const std::string& what) {
  problem_.note(line_of(key), std::string(key) + ' ' + what);
}

void table_reader::note_missing(const std::string& what) {
  problem_.note_missing(table_.line, name_ + ' ' + what);
}

const config::toml_node* table_reader::take_as(std::string_view key, form wanted,
                                               std::string_view shown) {
  const config::toml_node* node = take(key);
  if (node == nullptr || node->what == wanted) return node;
  note(key, "is " + std::string(config::to_string(node->what)) + "; write " + std::string(shown));
  return nullptr;
}

std::optional<std::uint64_t> table_reader::whole(const config::toml_node& node,
                                                 std::string_view key, const number_range& range) {
  const bool fits = node.what == form::integer && node.integer >= 0 &&
                    static_cast<std::uint64_t>(node.integer) >= range.low &&
                    static_cast<std::uint64_t>(node.integer) <= range.high;
  if (fits) return static_cast<std::uint64_t>(node.integer);
  const std::string what = node.what == form::integer
                               ? " = " + std::to_string(node.integer) + " is out of range"
                               : " is " + std::string(config::to_string(node.what));
  problem_.note(node.line, std::string(key) + what + "; write a whole number from " +
                               std::to_string(range.low) + " to " + std::to_string(range.high));
  return std::nullopt;
}

void table_reader::number(std::string_view key, const number_range& range, std::uint32_t& out) {
  std::uint64_t wide = out;
  number(key, range, wide);
  out = static_cast<std::uint32_t>(wide);
}

void table_reader::number(std::string_view key, const number_range& range, std::uint64_t& out) {
  const config::toml_node* node = take(key);
  if (node == nullptr) return;
  if (const auto value = whole(*node, key, range)) out = *value;
}

void table_reader::number(std::string_view key, const number_range& range,
                          std::optional<std::uint32_t>& out) {
  std::uint32_t read = 0;
  number(key, range, read);
  if (has(key)) out = read;
}

void table_reader::time(std::string_view key, duration& out) {
  const config::toml_node* node = take(key);
  if (node == nullptr) return;
  if (node->what == form::integer || node->what == form::real)
    return note(key, "has no unit; write \"5ms\" or \"2s\"");
  if (node->what != form::string)
    return note(key, "is " + std::string(config::to_string(node->what)) + "; write \"5ms\"");
  const auto length = config::parse_time_length(node->text);
  if (!length) return note(key, "= " + quoted(node->text) + ' ' + length.error());
  if (*length < 0) return note(key, "= " + quoted(node->text) + " is negative");
  out = duration(*length);
}

void table_reader::time(std::string_view key, std::optional<duration>& out) {
  duration read{};
  time(key, read);
  if (has(key)) out = read;
}

void table_reader::rate(std::string_view key, std::uint64_t& bytes_per_second) {
  const config::toml_node* node = take_as(key, form::string, "\"25GB/s\"");
  if (node == nullptr) return;
  const std::string_view text = node->text;
  const auto bytes =
      config::parse_bytes(text.substr(0, text.size() - std::min<std::size_t>(2, text.size())));
  if (!text.ends_with("/s") || !bytes || *bytes <= 0)
    return note(key, "= " + quoted(text) + " is no rate; write \"25GB/s\" or \"100MiB/s\"");
  bytes_per_second = static_cast<std::uint64_t>(*bytes);
}

void table_reader::percent(std::string_view key, double high, double& out) {
  const config::toml_node* node = take_as(key, form::string, "\"5%\"");
  if (node == nullptr) return;
  const std::string_view text = node->text;
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole_text =
      read.ec == std::errc() && read.ptr + 1 == text.data() + text.size() && text.back() == '%';
  // Not a number compares as false.
  if (!whole_text || !(value >= 0 && value <= high * 100))
    return note(key, "= " + quoted(text) + " is no share; write \"0.1%\" up to \"" +
                         std::to_string(std::lround(high * 100)) + "%\"");
  out = value / 100;
}

void table_reader::text(std::string_view key, std::string& out) {
  const config::toml_node* node = take_as(key, form::string, "a text in quotes");
  if (node == nullptr) return;
  if (!config::is_printable(node->text))
    return note(key, "has characters that are not printable ASCII");
  out = node->text;
}

void table_reader::real(std::string_view key, std::optional<double>& out) {
  const config::toml_node* node = take(key);
  if (node == nullptr) return;
  if (node->what == form::integer)
    out = static_cast<double>(node->integer);
  else if (node->what == form::real && std::isfinite(node->real))
    out = node->real;
  else
    note(key, "is " + std::string(config::to_string(node->what)) + "; write a number");
}

std::optional<std::size_t> table_reader::place_of(const config::toml_node& node,
                                                  std::string_view key,
                                                  std::span<const std::string_view> known) {
  if (node.what != form::string) {
    problem_.note(node.line, std::string(key) + " has " +
                                 std::string(config::to_string(node.what)) +
                                 "; write one of: " + list(known));
    return std::nullopt;
  }
  const auto found = std::find(known.begin(), known.end(), node.text);
  if (found != known.end()) return static_cast<std::size_t>(found - known.begin());
  problem_.note(node.line, std::string(key) + " = " + quoted(node.text) +
                               " is unknown; nearest: \"" +
                               std::string(config::nearest_of(node.text, known)) +
                               "\"; there are: " + list(known));
  return std::nullopt;
}

void table_reader::word(std::string_view key, std::span<const std::string_view> known,
                        std::size_t& out) {
  const config::toml_node* node = take(key);
  if (node == nullptr) return;
  if (const auto place = place_of(*node, key, known)) out = *place;
}

void table_reader::words(std::string_view key, std::span<const std::string_view> known,
                         std::vector<std::size_t>& out) {
  const config::toml_node* node = take(key);
  if (node == nullptr) return;
  if (node->what != form::list) {
    if (const auto place = place_of(*node, key, known)) out.push_back(*place);
    return;
  }
  if (node->items.empty()) note(key, "is an empty list; write at least one of: " + list(known));
  for (const config::toml_node& item : node->items)
    if (const auto place = place_of(item, key, known)) out.push_back(*place);
}

void table_reader::numbers(std::string_view key, const number_range& range,
                           std::vector<std::uint32_t>& out) {
  const config::toml_node* node = take(key);
  if (node == nullptr) return;
  const auto add = [&](const config::toml_node& item) {
    const auto value = whole(item, key, range);
    if (!value) return;
    const auto number = static_cast<std::uint32_t>(*value);
    if (std::find(out.begin(), out.end(), number) != out.end())
      problem_.note(item.line, std::string(key) + " has " + std::to_string(number) + " twice");
    else
      out.push_back(number);
  };
  if (node->what != form::list) return add(*node);
  if (node->items.empty()) note(key, "is an empty list");
  for (const config::toml_node& item : node->items)
    add(item);
}

const config::toml_node* table_reader::table(std::string_view key) {
  return take_as(key, form::table, "[" + std::string(key) + "] and its keys below");
}

std::vector<const config::toml_node*> table_reader::tables(std::string_view key) {
  std::vector<const config::toml_node*> out;
  const std::string shown = "[[" + std::string(key) + "]] and its keys below";
  const config::toml_node* node = take_as(key, form::list, shown);
  if (node == nullptr) return out;
  for (const config::toml_node& item : node->items) {
    if (item.what == form::table)
      out.push_back(&item);
    else
      problem_.note(item.line, std::string(key) + " has " +
                                   std::string(config::to_string(item.what)) + "; write " + shown);
  }
  return out;
}

void table_reader::finish() {
  for (const config::toml_entry& entry : table_.entries) {
    if (std::find(known_.begin(), known_.end(), entry.key) != known_.end()) continue;
    problem_.note(entry.line, "unknown key " + quoted(entry.key) + " in " + name_ + "; nearest: " +
                                  std::string(config::nearest_of(entry.key, known_)));
  }
}

}  // namespace troupe::scenario::detail
