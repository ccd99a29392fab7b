#include "runtime/lane.hpp"

#include <algorithm>
#include <cstdio>

namespace troupe {

std::string_view to_string(lane_kind kind) {
  switch (kind) {
    case lane_kind::none: return "none";
    case lane_kind::fabric: return "fabric";
    case lane_kind::tcp: return "tcp";
    case lane_kind::shm: return "shm";
    case lane_kind::verbs: return "verbs";
    case lane_kind::copy_engine: return "copy_engine";
  }
  return "invalid";
}

namespace {

constexpr std::array<std::uint8_t, 12> mapped_prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

std::uint8_t at(const lane_address& address, std::size_t i) {
  return std::to_integer<std::uint8_t>(address.host[i]);
}

bool is_mapped_ipv4(const lane_address& address) {
  for (std::size_t i = 0; i < mapped_prefix.size(); ++i)
    if (at(address, i) != mapped_prefix[i]) return false;
  return true;
}

struct zero_run {
  std::size_t first = 8;
  std::size_t length = 0;
};

// RFC 5952: the longest run of zero groups, at least two, is written as "::".
zero_run longest_zero_run(const std::array<std::uint16_t, 8>& groups) {
  zero_run best;
  for (std::size_t i = 0; i < groups.size();) {
    std::size_t end = i;
    while (end < groups.size() && groups[end] == 0)
      ++end;
    if (end - i > best.length && end - i >= 2) best = {i, end - i};
    i = std::max(end, i + 1);
  }
  return best;
}

std::string ipv6_text(const lane_address& address) {
  std::array<std::uint16_t, 8> groups{};
  for (std::size_t i = 0; i < groups.size(); ++i)
    groups[i] = static_cast<std::uint16_t>(at(address, 2 * i) << 8 | at(address, 2 * i + 1));
  const auto zeros = longest_zero_run(groups);
  std::string out;
  char text[8];
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (i == zeros.first) {
      out += "::";
      i += zeros.length - 1;
      continue;
    }
    if (!out.empty() && out.back() != ':') out += ':';
    std::snprintf(text, sizeof text, "%x", static_cast<unsigned>(groups[i]));
    out += text;
  }
  return out;
}

}  // namespace

std::string to_string(const lane_address& address) {
  char text[32];
  if (is_mapped_ipv4(address)) {
    std::snprintf(text, sizeof text, "%u.%u.%u.%u:%u", at(address, 12), at(address, 13),
                  at(address, 14), at(address, 15), address.port);
    return text;
  }
  return "[" + ipv6_text(address) + "]:" + std::to_string(address.port);
}

}  // namespace troupe
