#include "net/emulation/detail/settings.hpp"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>

namespace troupe::net::emulation {

namespace {

// Ends the process at once: it would go on in a network that nobody asked for.
[[noreturn]] void refuse(const char* variable, const char* text, const std::string& why) {
  std::fprintf(stderr, "emulated NIC: %s = \"%s\": %s\n", variable, text, why.c_str());
  std::_Exit(2);
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
           "must be a number from " + std::to_string(least) + " to " + std::to_string(most));
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
           "must be 1 to " + std::to_string(longest) + " letters, digits and characters of -_.");
  return text;
}

network_model network(const char* variable) {
  const char* const path = std::getenv(variable);
  if (path == nullptr || *path == '\0') return {};
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || file.bad())
    refuse(variable, path, std::string("cannot be read: ") + std::strerror(errno));
  auto model = read_network(text, path);
  if (!model) refuse(variable, path, model.error().message);
  return *std::move(model);
}

std::vector<fault_command> faults(const char* variable) {
  const char* const text = std::getenv(variable);
  if (text == nullptr) return {};
  auto commands = read_fault_commands(text);
  if (!commands) refuse(variable, text, commands.error().message);
  return *std::move(commands);
}

// What launchers call the process; not ours to check.
std::string rank() {
  const char* const text = std::getenv("RANK");
  const bool is_number = text != nullptr && *text != '\0' &&
                         std::strspn(text, "0123456789") == std::strlen(text) &&
                         std::strlen(text) < 10;
  return is_number ? text : "";
}

settings read() {
  return {.job = name("TROUPE_EMULATION_JOB", "default", 48),
          .host = number("TROUPE_EMULATION_HOST", 0, 0, 65535),
          .device_count = number("TROUPE_EMULATION_DEVICES", 2, 0, device_count_max),
          .seed = number("TROUPE_EMULATION_SEED", 1, 0, ~std::uint32_t{0}),
          .network = network("TROUPE_EMULATION_NETWORK"),
          .faults = faults("TROUPE_EMULATION_FAULTS"),
          .rank = rank()};
}

}  // namespace

// They never end: threads of open devices read them until the very end of the process.
const settings& process_settings() {
  static const settings& read_once = *std::make_unique<settings>(read()).release();
  return read_once;
}

}  // namespace troupe::net::emulation
