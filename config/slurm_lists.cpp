#include "config/slurm_lists.hpp"

#include "config/text_forms.hpp"

#include <charconv>

namespace troupe::config {
namespace {

std::optional<std::uint32_t> parse_number(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Takes "003-005,9]" off `list` and returns "003": the text, because its zeros count.
std::optional<std::string_view> take_first_of_range(std::string_view& list) {
  const std::size_t end = list.find(']');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view first = list.substr(0, list.substr(0, end).find_first_of("-,"));
  if (!is_digits(first.substr(0, end))) return std::nullopt;
  list.remove_prefix(end + 1);
  return first.substr(0, end);
}

}  // namespace

std::optional<std::string> first_host(std::string_view list) {
  std::string host;
  while (!list.empty() && list.front() != ',') {
    const char c = list.front();
    list.remove_prefix(1);
    if (c != '[') {
      host += c;
      continue;
    }
    const auto number = take_first_of_range(list);
    if (!number) return std::nullopt;
    host += *number;
  }
  if (!is_host(host)) return std::nullopt;
  return host;
}

std::optional<std::uint32_t> tasks_on_node(std::string_view list, std::uint32_t node) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    std::string_view part = list.substr(0, comma);
    std::uint32_t repeated = 1;
    if (const std::size_t open = part.find("(x"); open != std::string_view::npos) {
      if (part.back() != ')') return std::nullopt;
      const auto times = parse_number(part.substr(open + 2, part.size() - open - 3));
      if (!times) return std::nullopt;
      repeated = *times;
      part = part.substr(0, open);
    }
    const auto tasks = parse_number(part);
    if (!tasks) return std::nullopt;
    if (node < repeated) return tasks;
    node -= repeated;
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
  return std::nullopt;
}

}  // namespace troupe::config
