#include "runtime/cli/json_rows.hpp"

#include <charconv>
#include <optional>
#include <utility>

namespace troupe::cli {
namespace {

constexpr std::string_view spaces = " \t\r\n";

class row_reader {
 public:
  explicit row_reader(std::string_view text) : text_(text) {}

  outcome<std::vector<json_row>> read() {
    std::vector<json_row> rows;
    if (!take('[')) return wrong("'['");
    for (bool more = !take(']'); more; more = !take(']')) {
      if (!rows.empty() && !take(',')) return wrong("',' or ']'");
      auto row = read_row();
      if (!row) return fail(std::move(row.error()));
      rows.push_back(std::move(*row));
    }
    skip_spaces();
    if (at_ != text_.size()) return wrong("the end of the file");
    return rows;
  }

 private:
  tl::unexpected<failure> wrong(const std::string& expected) const {
    return fail(errc::bad_argument, "no rows of troupe bench --json: byte " +
                                        std::to_string(at_ + 1) + " is not " + expected);
  }

  void skip_spaces() {
    while (at_ < text_.size() && spaces.find(text_[at_]) != std::string_view::npos)
      ++at_;
  }

  bool take(char wanted) {
    skip_spaces();
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  bool take_word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  outcome<json_row> read_row() {
    json_row row;
    if (!take('{')) return wrong("'{'");
    for (bool more = !take('}'); more; more = !take('}')) {
      if (row.size() + null_count_ != 0 && !take(',')) return wrong("',' or '}'");
      auto name = read_text();
      if (!name) return fail(std::move(name.error()));
      if (!take(':')) return wrong("':'");
      if (auto done = read_value(row, std::move(*name)); !done)
        return fail(std::move(done.error()));
    }
    null_count_ = 0;
    return row;
  }

  outcome<void> read_value(json_row& row, std::string name) {
    skip_spaces();
    if (at_ < text_.size() && text_[at_] == '"') {
      auto value = read_text();
      if (!value) return fail(std::move(value.error()));
      row.set(std::move(name), std::move(*value));
      return {};
    }
    if (take_word("null")) {
      ++null_count_;
      return {};
    }
    for (const bool truth : {true, false}) {
      if (!take_word(truth ? "true" : "false")) continue;
      row.set(std::move(name), truth);
      return {};
    }
    double number = 0;
    const char* end = text_.data() + text_.size();
    const auto read = std::from_chars(text_.data() + at_, end, number);
    if (read.ec != std::errc()) return wrong("a text, a number, true, false or null");
    at_ = static_cast<std::size_t>(read.ptr - text_.data());
    row.set(std::move(name), number);
    return {};
  }

  static std::optional<char> escaped(char letter) {
    switch (letter) {
      case '"':
      case '\\':
      case '/': return letter;
      case 'n': return '\n';
      case 't': return '\t';
      default: return std::nullopt;
    }
  }

  outcome<std::string> read_text() {
    if (!take('"')) return wrong("'\"'");
    std::string out;
    for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] != '\\') {
        out += text_[at_];
        continue;
      }
      const auto letter = escaped(at_ + 1 < text_.size() ? text_[at_ + 1] : '\0');
      if (!letter) return wrong("an escape of \\\" \\\\ \\/ \\n \\t");
      out += *letter;
      ++at_;
    }
    if (!take('"')) return wrong("the end of a text");
    return out;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t null_count_ = 0;  ///< of the row being read
};

}  // namespace

outcome<double> json_row::number(const std::string& name) const {
  const auto found = fields_.find(name);
  const auto* value = found == fields_.end() ? nullptr : std::get_if<double>(&found->second);
  if (value != nullptr) return *value;
  return fail(errc::bad_argument, "a row has no number \"" + name + "\"");
}

outcome<std::string> json_row::text(const std::string& name) const {
  const auto found = fields_.find(name);
  const auto* value = found == fields_.end() ? nullptr : std::get_if<std::string>(&found->second);
  if (value != nullptr) return *value;
  return fail(errc::bad_argument, "a row has no text \"" + name + "\"");
}

outcome<std::vector<json_row>> parse_json_rows(std::string_view text) {
  return row_reader(text).read();
}

}  // namespace troupe::cli
