#include "config/toml_tree.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <exception>

#include "config/text_forms.hpp"

namespace troupe::config {
namespace {

std::string at_line(std::string_view file_name, std::uint32_t line) {
  return std::string(file_name) + ':' + std::to_string(line) + ": ";
}

/// Follows strings and comments just enough to count what nests outside of them.
class nesting_scan {
 public:
  explicit nesting_scan(std::string_view text) : text_(text) {}

  /// The line of the first statement with too many levels; 0 if there is none.
  std::uint32_t line_too_deep() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"' || c == '\'') {
        skip_string(c);
      } else if (c == '#') {
        skip_to_line_end();
      } else {
        if (count(c) > statement_levels_max) return line_;
        ++at_;
      }
    }
    return 0;
  }

 private:
  std::size_t count(char c) {
    if (c == '\n') {
      ++line_;
      if (open_ == 0) levels_ = 0;
    }
    const bool opens = c == '[' || c == '{';
    const bool closes = c == ']' || c == '}';
    if (opens) ++open_;
    if (closes && open_ > 0) --open_;
    if (opens || c == '.') ++levels_;
    return levels_;
  }

  void skip_to_line_end() { at_ = std::min(text_.find('\n', at_), text_.size()); }

  void skip_string(char quote) {
    const std::string_view rest = text_.substr(at_);
    const bool multi_line = rest.starts_with(quote == '"' ? "\"\"\"" : "'''");
    const std::size_t quotes = multi_line ? 3 : 1;
    for (at_ += quotes; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') {
        if (!multi_line) return;  // an error of the file; the parser says so
        ++line_;
      } else if (c == '\\' && quote == '"') {
        if (at_ + 1 < text_.size() && text_[at_ + 1] != '\n') ++at_;
      } else if (c == quote && (!multi_line || text_.substr(at_).starts_with(rest.substr(0, 3)))) {
        at_ += quotes;
        return;
      }
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t levels_ = 0;
  std::size_t open_ = 0;
  std::uint32_t line_ = 1;
};

// A list of many tables counts its levels in one statement, so the recursion is bounded.
toml_node read_node(const toml::node& node) {
  using form = toml_node::form;
  toml_node out;
  out.line = node.source().begin.line;
  if (const auto* text = node.as_string()) {
    out.what = form::string;
    out.text = text->get();
  } else if (const auto* number = node.as_integer()) {
    out.what = form::integer;
    out.integer = number->get();
  } else if (const auto* real = node.as_floating_point()) {
    out.what = form::real;
    out.real = real->get();
  } else if (const auto* truth = node.as_boolean()) {
    out.what = form::boolean;
    out.boolean = truth->get();
  } else if (const auto* list = node.as_array()) {
    out.what = form::list;
    for (const toml::node& item : *list)
      out.items.push_back(read_node(item));
  } else if (const auto* table = node.as_table()) {
    for (const auto& [key, value] : *table)
      out.entries.push_back({std::string(key.str()), read_node(value), key.source().begin.line});
    std::ranges::stable_sort(out.entries, {}, &toml_entry::line);
  } else {
    out.what = form::date_or_time;
  }
  return out;
}

/// What the parser did not like. It quotes the text at times, so nothing of a line with a secret.
std::string describe(const toml::parse_error& problem, std::string_view text) {
  std::uint32_t line = problem.source().begin.line;
  while (line > 1 && text.find('\n') != std::string_view::npos) {
    text.remove_prefix(text.find('\n') + 1);
    --line;
  }
  if (text.substr(0, text.find('\n')).find("secret") != std::string_view::npos)
    return "expected secret = \"...\" in quotes";
  return printable(problem.description());
}

}  // namespace

std::string_view to_string(toml_node::form what) {
  switch (what) {
    case toml_node::form::string: return "a string";
    case toml_node::form::integer: return "a whole number";
    case toml_node::form::real: return "a number with a point";
    case toml_node::form::boolean: return "a boolean";
    case toml_node::form::list: return "a list";
    case toml_node::form::table: return "a section";
    case toml_node::form::date_or_time: return "a date or time";
  }
  return "unknown";
}

const toml_node* find(const toml_node& table, std::string_view key) {
  for (const toml_entry& entry : table.entries)
    if (entry.key == key) return &entry.value;
  return nullptr;
}

outcome<toml_node> read_toml_tree(std::string_view text, std::string_view file_name) {
  if (text.size() > config_file_bytes_max)
    return fail(errc::bad_configuration, std::string(file_name) + ": is longer than " +
                                             std::to_string(config_file_bytes_max) +
                                             " bytes, no configuration of Troupe is");
  if (const std::uint32_t line = nesting_scan(text).line_too_deep(); line != 0)
    return fail(errc::bad_configuration, at_line(file_name, line) + "nests deeper than " +
                                             std::to_string(statement_levels_max) +
                                             " levels; options stand in [section]s, one deep");
  try {
    return read_node(toml::parse(text, file_name));
  } catch (const toml::parse_error& problem) {
    return fail(errc::bad_configuration, at_line(file_name, problem.source().begin.line) +
                                             "is not valid TOML: " + describe(problem, text));
  } catch (const std::exception& problem) {
    return fail(errc::bad_configuration,
                std::string(file_name) + ": could not be read as TOML: " + problem.what());
  }
}

}  // namespace troupe::config
