#include "config/host_list.hpp"

#include "config/text_forms.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

namespace troupe::config {
namespace {

// Chosen: no list of hosts has ranges of more digits, and the numbers fit 64 bits.
constexpr std::size_t digits_max = 9;

tl::unexpected<failure> bad(std::string_view part, std::string_view problem) {
  return fail(errc::bad_configuration,
              '"' + printable(part.substr(0, 80)) + "\" " + std::string(problem));
}

std::optional<std::uint32_t> number_in(std::string_view digits) {
  std::uint32_t value = 0;
  if (digits.empty() || digits.size() > digits_max) return std::nullopt;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (problem != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

/// "003-005": the numbers from first to last, written with at least as many digits as the first.
struct number_range {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  std::size_t width = 0;

  bool contains(std::string_view digits) const {
    const auto value = number_in(digits);
    if (!value || *value < first || *value > last) return false;
    const auto plain = std::to_string(*value).size();
    return digits.size() == std::max(width, plain);
  }
};

std::optional<number_range> parse_range(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto first = number_in(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : number_in(text.substr(dash + 1));
  if (!first || !last || *last < *first) return std::nullopt;
  return number_range{*first, *last, std::min(text.size(), dash)};
}

// Takes what stands before the next `separator` off `text`.
std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const auto taken = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return taken;
}

// Takes the next pattern off `list`: up to a comma that is outside of brackets.
std::string_view take_pattern(std::string_view& list) {
  std::size_t end = 0;
  for (bool inside = false; end < list.size() && (inside || list[end] != ','); ++end)
    inside = list[end] == '[' || (inside && list[end] != ']');
  const auto pattern = list.substr(0, end);
  list.remove_prefix(std::min(end + 1, list.size()));
  return pattern;
}

outcome<void> check_pattern(std::string_view pattern) {
  std::string plain;
  auto rest = pattern;
  while (!rest.empty()) {
    const auto text = take_until(rest, '[');
    plain += text;
    if (text.size() == pattern.size() || (rest.empty() && pattern.back() != '[')) break;
    if (rest.find(']') == std::string_view::npos) return bad(pattern, "has a [ without ]");
    auto ranges = take_until(rest, ']');
    if (ranges.ends_with(',')) return bad(pattern, "has a comma and no range behind it");
    do {
      const auto range = take_until(ranges, ',');
      if (!parse_range(range))
        return bad(pattern, "has a range that is none: write [1-4,7], at most " +
                                std::to_string(digits_max) + " digits, rising");
    } while (!ranges.empty());
    plain += '0';
  }
  if (!is_host(plain)) return bad(pattern, "is no host name: letters, digits and . - _ only");
  return {};
}

// The pattern passed `check_pattern`.
bool matches(std::string_view pattern, std::string_view host) {
  const std::size_t open = pattern.find('[');
  const auto literal = pattern.substr(0, open);
  if (open == std::string_view::npos) return literal == host;
  if (!host.starts_with(literal)) return false;
  host.remove_prefix(literal.size());
  auto rest = pattern.substr(open + 1);
  auto ranges = take_until(rest, ']');
  while (!ranges.empty()) {
    const auto range = parse_range(take_until(ranges, ','));
    for (std::size_t length = 1; length <= std::min(host.size(), digits_max); ++length)
      if (range->contains(host.substr(0, length)) && matches(rest, host.substr(length)))
        return true;
  }
  return false;
}

}  // namespace

outcome<bool> host_list_contains(std::string_view list, std::string_view host) {
  if (list.empty()) return fail(errc::bad_configuration, "names no host");
  bool found = false;
  while (!list.empty()) {
    const bool more = list.back() == ',';
    const auto pattern = take_pattern(list);
    if (const auto valid = check_pattern(pattern); !valid) return fail(valid.error());
    if (more && list.empty()) return bad(pattern, "is followed by a comma and nothing else");
    found = found || matches(pattern, host);
  }
  return found;
}

}  // namespace troupe::config
