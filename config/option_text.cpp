#include "config/option_text.hpp"

#include "config/quantity.hpp"
#include "config/text_forms.hpp"

#include <algorithm>
#include <bit>

namespace troupe::config {
namespace {

using form = written_value::form;

std::string with_limits(const option_description& option, std::string problem) {
  problem += "; allowed: " + range_text(option);
  if (!option.unit.empty()) problem.append("; unit: ").append(option.unit);
  return problem;
}

std::string format_number(const option_description& option, std::int64_t number) {
  switch (option.kind) {
    case value_kind::bytes: return format_bytes(number);
    case value_kind::time_length: return format_time_length(number);
    case value_kind::count:
    case value_kind::text: break;
  }
  return std::to_string(number);
}

// A file's value has a type. Empty if it is one the option can have.
std::string type_problem(const option_description& option, const written_value& written) {
  if (written.written_as == form::other)
    return "is " + written.text + ", which no option takes; write " +
           (option.kind == value_kind::count ? "an integer" : "quoted text");
  const bool is_integer = written.written_as == form::integer;
  if (option.kind == value_kind::text && is_integer)
    return "is an integer where text is expected; write it in quotes";
  if (option.kind == value_kind::count && written.written_as == form::string)
    return "is text where an integer is expected; write it without quotes";
  return {};
}

quantity read_number(const option_description& option, const std::string& text) {
  switch (option.kind) {
    case value_kind::bytes: return parse_bytes(text);
    case value_kind::time_length: return parse_time_length(text);
    case value_kind::count:
    case value_kind::text: break;
  }
  return parse_whole_number(text);
}

std::optional<std::string> find_number_problem(const option_description& option,
                                               std::int64_t number) {
  if (number == 0 && !option.unset_means.empty()) return std::nullopt;
  if (number < option.low || number > option.high) return "is out of range";
  if (option.shape == number_shape::power_of_two &&
      !std::has_single_bit(static_cast<std::uint64_t>(number)))
    return "is not a power of two";
  if (option.shape == number_shape::multiple_of_64 && number % 64 != 0)
    return "is not a multiple of 64";
  return std::nullopt;
}

std::optional<std::string> find_text_problem(const option_description& option,
                                             const std::string& text) {
  if (text.size() > option_text_bytes_max)
    return "is longer than " + std::to_string(option_text_bytes_max) + " characters";
  if (!is_printable(text)) return "has a character that is not printable ASCII";
  if (text.empty())
    return option.unset_means.empty() ? std::optional<std::string>("is empty") : std::nullopt;
  if (!option.choices.empty() && std::ranges::find(option.choices, text) == option.choices.end())
    return "is not one of the choices";
  if (option.accepts != nullptr && !option.accepts(text)) return "does not have the right form";
  return std::nullopt;
}

std::string quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

}  // namespace

tl::expected<option_value, std::string> read_value(const option_description& option,
                                                   const written_value& written) {
  if (std::string problem = type_problem(option, written); !problem.empty())
    return tl::unexpected<std::string>(with_limits(option, std::move(problem)));
  option_value value;
  if (option.kind == value_kind::text) {
    value = written.text;
  } else {
    quantity number = read_number(option, written.text);
    if (!number) return tl::unexpected<std::string>(with_limits(option, number.error()));
    value = *number;
  }
  if (auto problem = find_problem(option, value)) return tl::unexpected<std::string>(*problem);
  return value;
}

std::optional<std::string> find_problem(const option_description& option,
                                        const option_value& value) {
  const auto* number = std::get_if<std::int64_t>(&value);
  auto problem = number != nullptr ? find_number_problem(option, *number)
                                   : find_text_problem(option, std::get<std::string>(value));
  if (problem) problem = with_limits(option, *problem);
  return problem;
}

std::string format_value(const option_description& option, const option_value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return format_number(option, *number);
  const auto& text = std::get<std::string>(value);
  if (option.shows == visibility::secret) return text.empty() ? "(not set)" : "(set)";
  return text;
}

std::string format_toml(const option_description& option, const option_value& value) {
  std::string text = format_value(option, value);
  const bool digits_only = text.find_first_not_of("-0123456789") == std::string::npos;
  if (option.kind != value_kind::text && digits_only) return text;
  return quote(text);
}

std::string range_text(const option_description& option) {
  std::string out;
  if (option.kind != value_kind::text) {
    out = format_number(option, option.low) + " to " + format_number(option, option.high);
    if (option.shape == number_shape::power_of_two) out += ", a power of two";
    if (option.shape == number_shape::multiple_of_64) out += ", a multiple of 64";
    if (!option.unset_means.empty()) out.append(", or 0: ").append(option.unset_means);
    return out;
  }
  if (!option.choices.empty()) {
    out = "one of:";
    for (const std::string_view choice : option.choices)
      out.append(" ").append(choice);
  } else if (!option.form.empty()) {
    out = option.form;
  } else {
    out = "up to " + std::to_string(option_text_bytes_max) + " printable ASCII characters";
  }
  if (!option.unset_means.empty()) out.append(", or empty: ").append(option.unset_means);
  return out;
}

std::string_view unit_text(const option_description& option) {
  return option.unit.empty() ? std::string_view("text") : option.unit;
}

option_value default_value(const option_description& option) {
  return value_in({}, option);
}

std::string environment_name(const option_description& option) {
  std::string out = "TROUPE_";
  for (const char c : option.name)
    out += c == '.' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return out;
}

}  // namespace troupe::config
