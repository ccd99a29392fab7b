#include "runtime/cli/units.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "config/quantity.hpp"

namespace troupe::cli {
namespace {

constexpr std::string_view size_letters = "KMGT";

/// A number and what stands behind it.
template <class Number>
outcome<std::pair<Number, std::string_view>> split_number(std::string_view text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc())
    return fail(errc::bad_argument, "'" + std::string(text) + "' is not a number");
  return std::pair{value, text.substr(static_cast<std::size_t>(read.ptr - text.data()))};
}

}  // namespace

outcome<std::uint64_t> parse_size(std::string_view text) {
  if (const auto number = split_number<std::uint64_t>(text)) {
    const auto [value, unit] = *number;
    const std::size_t power =
        unit.size() == 1 ? size_letters.find(unit[0]) : std::string_view::npos;
    if (power != std::string_view::npos) {
      const auto shift = static_cast<unsigned>(10 * (power + 1));
      if (value > std::numeric_limits<std::uint64_t>::max() >> shift)
        return fail(errc::bad_argument, "'" + std::string(text) + "' is too large");
      return value << shift;
    }
  }
  const auto bytes = config::parse_bytes(text);
  if (bytes && *bytes >= 0) return static_cast<std::uint64_t>(*bytes);
  return fail(errc::bad_argument,
              "'" + std::string(text) + "' is no size; write bytes, or 64K, 128M, 1G, 1GB");
}

outcome<duration> parse_duration(std::string_view text) {
  if (const auto number = split_number<double>(text); number && number->second.empty()) {
    // A century, so that the nanoseconds fit.
    if (number->first >= 0 && number->first <= 3.2e9)
      return duration(static_cast<std::int64_t>(std::llround(number->first * 1e9)));
  }
  const auto length = config::parse_time_length(text);
  if (length && *length >= 0) return duration(*length);
  return fail(errc::bad_argument,
              "'" + std::string(text) + "' is no time; write seconds (10, 0.5), or 500ms, 5us, 2m");
}

outcome<std::uint64_t> parse_rate(std::string_view text) {
  struct rate_unit {
    std::string_view name;
    double bytes_per_second;
  };
  constexpr std::array<rate_unit, 9> units{{{"MB/s", 1e6},
                                            {"GB/s", 1e9},
                                            {"TB/s", 1e12},
                                            {"MiB/s", 0x1p20},
                                            {"GiB/s", 0x1p30},
                                            {"TiB/s", 0x1p40},
                                            {"Mbit/s", 1e6 / 8},
                                            {"Gbit/s", 1e9 / 8},
                                            {"Tbit/s", 1e12 / 8}}};
  const auto number = split_number<double>(text);
  for (const rate_unit& unit : units) {
    if (!number || number->second != unit.name) continue;
    const double rate = number->first * unit.bytes_per_second;
    if (rate >= 1 && rate <= 1e18) return static_cast<std::uint64_t>(std::llround(rate));
  }
  return fail(errc::bad_argument,
              "'" + std::string(text) + "' is no rate; write 25GB/s, 100MiB/s or 200Gbit/s");
}

std::string format_size(std::uint64_t bytes) {
  std::string letter;
  for (const char next : size_letters) {
    if (bytes == 0 || bytes % 1024 != 0) break;
    bytes /= 1024;
    letter = next;
  }
  return std::to_string(bytes) + letter;
}

}  // namespace troupe::cli
