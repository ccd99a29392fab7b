#include "runtime/json_text.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace troupe {

namespace {

constexpr std::size_t depth_max = 32;

void append_escaped(std::string& out, std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\t': out += "\\t"; break;
      case '\r': out += "\\r"; break;
      default:
        if (static_cast<unsigned char>(c) >= 0x20) {
          out += c;
        } else {
          out += "\\u00";
          out += digits[static_cast<unsigned char>(c) >> 4];
          out += digits[static_cast<unsigned char>(c) & 15];
        }
    }
  }
  out += '"';
}

template <class Number>
void append_number(std::string& out, Number number) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  out.append(digits.data(), end.ptr);
}

void append_utf8(std::string& out, std::uint32_t point) {
  const auto byte = [&](std::uint32_t b) { out += static_cast<char>(b); };
  if (point < 0x80) {
    byte(point);
  } else if (point < 0x800) {
    byte(0xc0 | point >> 6);
    byte(0x80 | (point & 0x3f));
  } else if (point < 0x10000) {
    byte(0xe0 | point >> 12);
    byte(0x80 | (point >> 6 & 0x3f));
    byte(0x80 | (point & 0x3f));
  } else {
    byte(0xf0 | point >> 18);
    byte(0x80 | (point >> 12 & 0x3f));
    byte(0x80 | (point >> 6 & 0x3f));
    byte(0x80 | (point & 0x3f));
  }
}

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number out{};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return out;
}

}  // namespace

// -- writing --------------------------------------------------------------------------------------

void json_writer::separate() {
  if (needs_comma_) text_ += ',';
  needs_comma_ = true;
}

json_writer& json_writer::begin_object() {
  separate();
  text_ += '{';
  needs_comma_ = false;
  return *this;
}

json_writer& json_writer::end_object() {
  text_ += '}';
  needs_comma_ = true;
  return *this;
}

json_writer& json_writer::begin_array() {
  separate();
  text_ += '[';
  needs_comma_ = false;
  return *this;
}

json_writer& json_writer::end_array() {
  text_ += ']';
  needs_comma_ = true;
  return *this;
}

json_writer& json_writer::key(std::string_view name) {
  separate();
  append_escaped(text_, name);
  text_ += ':';
  needs_comma_ = false;
  return *this;
}

json_writer& json_writer::value(std::string_view text) {
  separate();
  append_escaped(text_, text);
  return *this;
}

json_writer& json_writer::value(bool truth) {
  separate();
  text_ += truth ? "true" : "false";
  return *this;
}

json_writer& json_writer::value(std::uint64_t number) {
  separate();
  append_number(text_, number);
  return *this;
}

json_writer& json_writer::value(std::int64_t number) {
  separate();
  append_number(text_, number);
  return *this;
}

json_writer& json_writer::value(double number) {
  if (!std::isfinite(number)) return null();
  separate();
  append_number(text_, number);
  return *this;
}

json_writer& json_writer::null() {
  separate();
  text_ += "null";
  return *this;
}

// -- reading --------------------------------------------------------------------------------------

const json_value* json_value::find(std::string_view name) const {
  for (std::size_t i = 0; i < names_.size(); ++i)
    if (names_[i] == name) return &items_[i];
  return nullptr;
}

std::optional<std::string_view> json_value::text() const {
  return type_ == type::text ? std::optional<std::string_view>(text_) : std::nullopt;
}

std::optional<bool> json_value::truth() const {
  return type_ == type::boolean ? std::optional<bool>(text_ == "true") : std::nullopt;
}

std::optional<std::int64_t> json_value::integer() const {
  return type_ == type::number ? number_of<std::int64_t>(text_) : std::nullopt;
}

std::optional<std::uint64_t> json_value::count() const {
  return type_ == type::number ? number_of<std::uint64_t>(text_) : std::nullopt;
}

std::optional<double> json_value::number() const {
  return type_ == type::number ? number_of<double>(text_) : std::nullopt;
}

class json_reader {
 public:
  explicit json_reader(std::string_view text) : text_(text) {}

  outcome<json_value> read() {
    json_value out;
    if (!read_value(out, 0)) return wrong();
    skip_spaces();
    if (at_ == text_.size()) return out;
    expected_ = "the end";
    return wrong();
  }

 private:
  tl::unexpected<failure> wrong() const {
    return fail(errc::malformed,
                "not JSON: byte " + std::to_string(at_ + 1) + " is not " + expected_);
  }

  bool expect(const char* what) {
    expected_ = what;
    return false;
  }

  void skip_spaces() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos)
      ++at_;
  }

  char peek() {
    skip_spaces();
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool take(char wanted) {
    if (peek() != wanted || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }

  bool take_word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  bool read_value(json_value& out, std::size_t depth) {
    if (depth > depth_max) return expect("something that lies less deep");
    switch (peek()) {
      case '{': return read_object(out, depth);
      case '[': return read_array(out, depth);
      case '"': out.type_ = json_value::type::text; return read_text(out.text_);
      default: break;
    }
    if (take_word("null")) return true;
    for (const std::string_view word : {"true", "false"}) {
      if (!take_word(word)) continue;
      out.type_ = json_value::type::boolean;
      out.text_ = word;
      return true;
    }
    return read_number(out);
  }

  bool read_object(json_value& out, std::size_t depth) {
    out.type_ = json_value::type::object;
    ++at_;
    for (bool more = !take('}'); more; more = !take('}')) {
      if (!out.items_.empty() && !take(',')) return expect("',' or '}'");
      if (peek() != '"') return expect("a name");
      if (!read_text(out.names_.emplace_back())) return false;
      if (!take(':')) return expect("':'");
      if (!read_value(out.items_.emplace_back(), depth + 1)) return false;
    }
    return true;
  }

  bool read_array(json_value& out, std::size_t depth) {
    out.type_ = json_value::type::array;
    ++at_;
    for (bool more = !take(']'); more; more = !take(']')) {
      if (!out.items_.empty() && !take(',')) return expect("',' or ']'");
      if (!read_value(out.items_.emplace_back(), depth + 1)) return false;
    }
    return true;
  }

  bool read_number(json_value& out) {
    double ignored = 0;
    const auto* begin = text_.data() + at_;
    const auto* end = text_.data() + text_.size();
    // from_chars would take "inf" and "nan".
    if (begin == end || (*begin != '-' && (*begin < '0' || *begin > '9'))) return expect("a value");
    if (*begin == '-' && (begin + 1 == end || begin[1] < '0' || begin[1] > '9'))
      return expect("a number");
    const auto read = std::from_chars(begin, end, ignored);
    if (read.ec != std::errc()) return expect("a number that fits");
    out.type_ = json_value::type::number;
    out.text_.assign(begin, read.ptr);
    at_ += out.text_.size();
    return true;
  }

  bool read_text(std::string& out) {
    ++at_;
    for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (static_cast<unsigned char>(text_[at_]) < 0x20) return expect("a character of a text");
      if (text_[at_] != '\\') {
        out += text_[at_];
        continue;
      }
      ++at_;
      if (!read_escape(out)) return false;
    }
    if (at_ >= text_.size()) return expect("the end of a text");
    ++at_;
    return true;
  }

  /// Leaves the position on the escape's last byte.
  bool read_escape(std::string& out) {
    if (at_ >= text_.size()) return expect("an escape");
    constexpr std::string_view letters = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
    if (const auto found = letters.find(text_[at_]); found != letters.npos) {
      out += meant[found];
      return true;
    }
    if (text_[at_] != 'u') return expect("an escape");
    std::uint32_t point = 0;
    if (!read_unit(point)) return false;
    if (point >= 0xd800 && point < 0xdc00) {
      std::uint32_t low = 0;
      if (!text_.substr(at_ + 1).starts_with("\\u")) return expect("the other half of a pair");
      at_ += 2;
      if (!read_unit(low)) return false;
      if (low < 0xdc00 || low > 0xdfff) return expect("the other half of a pair");
      point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
    } else if (point >= 0xdc00 && point < 0xe000) {
      return expect("the first half of a pair");
    }
    append_utf8(out, point);
    return true;
  }

  bool read_unit(std::uint32_t& out) {
    const auto digits = text_.substr(at_ + 1, 4);
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), out, 16);
    if (digits.size() != 4 || read.ptr != digits.data() + 4) return expect("four digits");
    at_ += 4;
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  const char* expected_ = "a value";
};

outcome<json_value> parse_json(std::string_view text) {
  return json_reader(text).read();
}

}  // namespace troupe
