#include "net/emulation/detail/settings.hpp"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace troupe::net::emulation {

namespace {

[[noreturn]] void refuse(const char* variable, const char* text, const char* allowed) {
  std::fprintf(stderr, "emulated NIC: %s = \"%s\": must be %s\n", variable, text, allowed);
  std::exit(2);
}

std::uint32_t number(const char* variable, std::uint32_t otherwise, std::uint32_t least,
                     std::uint32_t most) {
  const char* const text = std::getenv(variable);
  if (text == nullptr) return otherwise;
  std::uint32_t value = 0;
  const char* const end = text + std::strlen(text);
  const auto [stop, problem] = std::from_chars(text, end, value);
  if (problem != std::errc{} || stop != end || value < least || value > most)
    refuse(variable, text,
           ("a number from " + std::to_string(least) + " to " + std::to_string(most)).c_str());
  return value;
}

std::string name(const char* variable, const char* otherwise, std::size_t longest) {
  const char* const text = std::getenv(variable);
  if (text == nullptr) return otherwise;
  const std::size_t length = std::strlen(text);
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  bool plain = length > 0 && length <= longest;
  for (std::size_t i = 0; i < length && plain; ++i)
    plain = is_plain(text[i]);
  if (!plain)
    refuse(variable, text,
           ("1 to " + std::to_string(longest) + " letters, digits and characters of -_.").c_str());
  return text;
}

settings read() {
  return {.job = name("TROUPE_EMULATION_JOB", "default", 48),
          .host = number("TROUPE_EMULATION_HOST", 0, 0, 65535),
          .device_count = number("TROUPE_EMULATION_DEVICES", 2, 0, 16)};
}

}  // namespace

const settings& process_settings() {
  static const settings read_once = read();
  return read_once;
}

}  // namespace troupe::net::emulation
