#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/result.hpp"

namespace troupe::cli {

/// A value of a flat row. Null is absent from its row.
using json_value = std::variant<std::string, double, bool>;

/// One object, by field.
class json_row {
 public:
  void set(std::string name, json_value value) { fields_[std::move(name)] = std::move(value); }

  /// The number or text of a field. Errors: bad_argument, naming the field, if it is not there or
  /// something else.
  outcome<double> number(const std::string& name) const;
  outcome<std::string> text(const std::string& name) const;

  std::size_t size() const { return fields_.size(); }

 private:
  std::map<std::string, json_value> fields_;
};

/// Reads what `table_json` writes: an array of objects whose values are texts, numbers, true, false
/// or null. Texts have the escapes \" \\ \/ \n \t alone.
/// Errors: bad_argument with the position, counted from 1, of the first byte that does not fit.
outcome<std::vector<json_row>> parse_json_rows(std::string_view text);

}  // namespace troupe::cli
