#include "net/emulation/text_fields.hpp"

#include <charconv>
#include <cmath>
#include <span>
#include <string>

namespace troupe::net::emulation {

namespace {

constexpr std::string_view blanks = " \t\r";

struct unit {
  std::string_view name;
  double factor;
};

tl::unexpected<failure> bad(std::string_view text, std::string_view allowed) {
  return fail(errc::bad_configuration,
              '"' + std::string(text.substr(0, 40)) + "\" must be " + std::string(allowed));
}

// A decimal number and one of the units; -1 if the text is none.
double measured(std::string_view text, std::span<const unit> units) {
  double value = 0;
  const auto [rest, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || value < 0 || !std::isfinite(value)) return -1;
  const std::string_view name(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
  for (const auto& known : units)
    if (known.name == name) return value * known.factor;
  return -1;
}

constexpr double hour_ns = 3600e9;

}  // namespace

std::vector<std::string_view> words_of(std::string_view line) {
  line = line.substr(0, line.find('#'));
  std::vector<std::string_view> words;
  for (auto at = line.find_first_not_of(blanks); at != std::string_view::npos;
       at = line.find_first_not_of(blanks, at)) {
    const auto end = std::min(line.find_first_of(blanks, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

outcome<std::uint64_t> read_time(std::string_view text) {
  static constexpr unit units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  const double value = text == "0" ? 0 : measured(text, units);
  if (value < 0 || value > hour_ns)
    return bad(text, "a time with its unit (ns, us, ms, s) of at most an hour, as 5us");
  return static_cast<std::uint64_t>(value);
}

outcome<std::uint64_t> read_rate(std::string_view text) {
  static constexpr unit units[] = {{"Mbit/s", 1e6}, {"Gbit/s", 1e9}};
  const double bits_a_second = measured(text, units);
  if (bits_a_second < 1e6 || bits_a_second > 8e12)
    return bad(text, "a rate from 1Mbit/s to 8000Gbit/s, as 400Gbit/s");
  return static_cast<std::uint64_t>(std::llround(8e12 / bits_a_second));
}

outcome<std::uint64_t> read_bytes(std::string_view text) {
  static constexpr unit units[] = {{"", 1}, {"KiB", 1024}, {"MiB", 1 << 20}, {"GiB", 1 << 30}};
  const double value = measured(text, units);
  if (value < 1 || value > 1e12) return bad(text, "a number of bytes, as 65536, 64KiB or 16MiB");
  return static_cast<std::uint64_t>(value);
}

outcome<std::uint32_t> read_share(std::string_view text) {
  static constexpr unit units[] = {{"%", 1e4}};
  const double value = measured(text, units);
  if (value < 0 || value > 1e6) return bad(text, "a share from 0% to 100%, as 0.5%");
  return static_cast<std::uint32_t>(std::llround(value));
}

outcome<std::uint32_t> read_count(std::string_view text, std::uint32_t least, std::uint32_t most) {
  std::uint32_t value = 0;
  const auto* const end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), end, value);
  if (problem != std::errc{} || rest != end || value < least || value > most)
    return bad(text, "a number from " + std::to_string(least) + " to " + std::to_string(most));
  return value;
}

}  // namespace troupe::net::emulation
