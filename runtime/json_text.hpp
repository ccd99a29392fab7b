#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/result.hpp"

namespace troupe {

/// Writes one JSON document (RFC 8259) in the order of the calls; commas are its business. What it
/// writes is one line.
class json_writer {
 public:
  json_writer& begin_object();
  json_writer& end_object();
  json_writer& begin_array();
  json_writer& end_array();

  /// The name of the next value.
  json_writer& key(std::string_view name);

  json_writer& value(std::string_view text);
  json_writer& value(const char* text) { return value(std::string_view(text)); }
  json_writer& value(bool truth);
  json_writer& value(std::uint64_t number);
  json_writer& value(std::int64_t number);
  json_writer& value(std::uint32_t number) { return value(std::uint64_t{number}); }
  json_writer& value(double number);
  json_writer& null();

  template <class Value>
  json_writer& member(std::string_view name, const Value& v) {
    return key(name).value(v);
  }

  const std::string& text() const { return text_; }
  std::string take() { return std::move(text_); }

 private:
  void separate();

  std::string text_;
  bool needs_comma_ = false;
};

/// A value of a JSON document. Numbers keep their text, so that none loses digits.
class json_value {
 public:
  enum class type { null, boolean, number, text, array, object };

  type what() const { return type_; }

  /// A member of an object; null if there is none, or this is no object. The first of its name.
  const json_value* find(std::string_view name) const;

  /// Elements of an array, or values of an object; of anything else none.
  const std::vector<json_value>& items() const { return items_; }

  std::optional<std::string_view> text() const;
  std::optional<bool> truth() const;
  /// Nothing if it is no integer, or does not fit.
  std::optional<std::int64_t> integer() const;
  std::optional<std::uint64_t> count() const;
  std::optional<double> number() const;

 private:
  friend class json_reader;

  type type_ = type::null;
  std::string text_;  ///< of a text or a number; "true" or "false"
  std::vector<json_value> items_;
  std::vector<std::string> names_;  ///< of an object's values
};

/// Reads one JSON document. Errors: malformed, with the position of the first byte, counted from 1,
/// that does not fit; arrays and objects lie at most 32 deep in one another.
outcome<json_value> parse_json(std::string_view text);

}  // namespace troupe
