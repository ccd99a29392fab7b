#include "config/text_forms.hpp"

#include <algorithm>
#include <charconv>

namespace troupe::config {
namespace {

bool is_letter_or_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool consists_of(std::string_view text, std::string_view extra) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [extra](char c) {
    return is_letter_or_digit(c) || extra.find(c) != std::string_view::npos;
  });
}

template <class Number>
std::optional<Number> parse_digits(std::string_view text) {
  Number value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

bool is_host(std::string_view text) {
  return text.size() <= 253 && consists_of(text, ".-_:%");
}

std::optional<host_port> parse_host_port(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (!is_host(host)) return std::nullopt;
  // Without brackets nobody knows which colon of an IPv6 address starts the port.
  if (bracketed != (host.find(':') != std::string_view::npos)) return std::nullopt;
  const auto port = parse_digits<std::uint16_t>(text.substr(colon + 1));
  if (!port) return std::nullopt;
  return host_port{std::string(host), *port};
}

std::string to_string(const host_port& address) {
  const bool brackets = address.host.find(':') != std::string::npos;
  return (brackets ? '[' + address.host + ']' : address.host) + ':' + std::to_string(address.port);
}

bool is_peer_address(std::string_view text) {
  const auto address = parse_host_port(text);
  return address && address->port != 0;
}

bool is_listen_address(std::string_view text) {
  return parse_host_port(text).has_value();
}

bool is_kernel_name(std::string_view text) {
  return text.size() <= 15 && consists_of(text, ".-_");
}

bool is_interface(std::string_view text) {
  return text.size() <= 64 && consists_of(text, ".-_:%@");
}

bool is_cpu_list(std::string_view text) {
  std::int64_t previous = -1;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    const std::size_t dash = part.find('-');
    const auto first = parse_digits<std::uint16_t>(part.substr(0, dash));
    const auto last =
        dash == std::string_view::npos ? first : parse_digits<std::uint16_t>(part.substr(dash + 1));
    if (!first || !last || *first <= previous || *last < *first) return false;
    previous = *last;
    if (comma == std::string_view::npos) return true;
    text.remove_prefix(comma + 1);
  }
}

bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

std::string printable(std::string_view text) {
  std::string out(text);
  std::ranges::replace_if(
      out, [](char c) { return c < ' ' || c > '~'; }, '?');
  return out;
}

}  // namespace troupe::config
