#include "config/quantity.hpp"

#include <array>
#include <charconv>
#include <limits>
#include <span>

namespace troupe::config {
namespace {

struct unit {
  std::string_view name;
  std::int64_t factor;
};

// Formatting takes the last binary (or time) unit that divides the number: ascending order.
constexpr std::array<unit, 5> binary_units{
    {{"B", 1}, {"KiB", 1ll << 10}, {"MiB", 1ll << 20}, {"GiB", 1ll << 30}, {"TiB", 1ll << 40}}};
constexpr std::array<unit, 4> decimal_units{
    {{"kB", 1'000}, {"MB", 1'000'000}, {"GB", 1'000'000'000}, {"TB", 1'000'000'000'000}}};
constexpr std::array<unit, 6> time_units{{{"ns", 1},
                                          {"us", 1'000},
                                          {"ms", 1'000'000},
                                          {"s", 1'000'000'000},
                                          {"m", 60'000'000'000},
                                          {"h", 3'600'000'000'000}}};

constexpr std::string_view bytes_units_text = "B, KiB, MiB, GiB, TiB, kB, MB, GB, TB";
constexpr std::string_view time_units_text = "ns, us, ms, s, m, h";

struct split_text {
  std::string_view number;
  std::string_view unit_name;
};

split_text split_unit(std::string_view text) {
  const std::size_t end = text.find_first_not_of("-0123456789");
  if (end == std::string_view::npos) return {text, {}};
  std::string_view unit_name = text.substr(end);
  if (unit_name.size() > 1 && unit_name.front() == ' ') unit_name.remove_prefix(1);
  return {text.substr(0, end), unit_name};
}

const unit* find_unit(std::span<const unit> units, std::string_view name) {
  for (const unit& candidate : units)
    if (candidate.name == name) return &candidate;
  return nullptr;
}

quantity scale(std::int64_t number, const unit& by) {
  const std::int64_t limit = std::numeric_limits<std::int64_t>::max() / by.factor;
  if (number > limit || number < -limit) return tl::unexpected<std::string>("is too large");
  return number * by.factor;
}

tl::unexpected<std::string> unknown_unit(std::string_view name, std::string_view units) {
  std::string text = "has the unknown unit \"" + std::string(name) + "\"; units are ";
  return tl::unexpected<std::string>(text.append(units) + ", after a whole number");
}

std::string format(std::int64_t number, std::span<const unit> units) {
  const unit* best = &units.front();
  for (const unit& candidate : units)
    if (number % candidate.factor == 0) best = &candidate;
  return std::to_string(number / best->factor).append(best->name);
}

}  // namespace

quantity parse_whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem == std::errc::result_out_of_range) return tl::unexpected<std::string>("is too large");
  if (problem != std::errc{} || end != text.data() + text.size())
    return tl::unexpected<std::string>("is not a whole number");
  return value;
}

quantity parse_bytes(std::string_view text) {
  const auto [digits, unit_name] = split_unit(text);
  const quantity number = parse_whole_number(digits);
  if (!number || unit_name.empty()) return number;
  const unit* found = find_unit(binary_units, unit_name);
  if (found == nullptr) found = find_unit(decimal_units, unit_name);
  if (found == nullptr) return unknown_unit(unit_name, bytes_units_text);
  return scale(*number, *found);
}

quantity parse_time_length(std::string_view text) {
  const auto [digits, unit_name] = split_unit(text);
  const quantity number = parse_whole_number(digits);
  if (!number) return number;
  if (unit_name.empty()) {
    std::string fix = "has no unit; write \"" + std::string(digits) + "s\" if seconds are meant (";
    return tl::unexpected<std::string>(fix.append("units are ").append(time_units_text) + ")");
  }
  const unit* found = find_unit(time_units, unit_name);
  if (found == nullptr) return unknown_unit(unit_name, time_units_text);
  return scale(*number, *found);
}

std::string format_bytes(std::int64_t bytes) {
  if (bytes % 1024 != 0 || bytes == 0) return std::to_string(bytes);
  return format(bytes, binary_units);
}

std::string format_time_length(std::int64_t nanoseconds) {
  if (nanoseconds == 0) return "0s";
  return format(nanoseconds, time_units);
}

}  // namespace troupe::config
