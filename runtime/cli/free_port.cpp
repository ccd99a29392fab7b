#include "runtime/cli/free_port.hpp"

#include <sys/random.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace troupe::cli {
namespace {

/// Where jobs of nobody else are likely: above the well-known servers, below the kernel's default
/// range for outgoing connections (32768). Chosen.
constexpr std::uint16_t port_low = 20'000;
constexpr std::uint16_t port_high_default = 32'767;

outcome<std::string> read_whole(const char* path) {
  std::ifstream file(path);
  if (!file)
    return fail(errc::system_failure,
                std::string("cannot read ") + path + " to find a free port; give one with --port");
  return std::string(std::istreambuf_iterator<char>(file), {});
}

/// The first port the kernel may give to an outgoing connection, less one.
std::uint16_t port_high() {
  std::ifstream file("/proc/sys/net/ipv4/ip_local_port_range");
  unsigned first = 0;
  if (!(file >> first) || first <= port_low + 100u) return port_high_default;
  return static_cast<std::uint16_t>(std::min(first - 1, 65'535u));
}

}  // namespace

std::set<std::uint16_t> ports_in_table(std::string_view table) {
  // "   0: 0100007F:1F90 00000000:0000 0A ...": the local address is the second word.
  std::set<std::uint16_t> ports;
  while (!table.empty()) {
    const std::size_t end = std::min(table.find('\n'), table.size());
    const std::string_view line = table.substr(0, end);
    table.remove_prefix(std::min(end + 1, table.size()));
    const std::size_t number = line.find(": ");
    if (number == std::string_view::npos) continue;
    const std::string_view address =
        line.substr(number + 2, line.find(' ', number + 2) - number - 2);
    const std::size_t colon = address.rfind(':');
    if (colon == std::string_view::npos) continue;
    std::uint16_t port = 0;
    const char* last = address.data() + address.size();
    const auto read = std::from_chars(address.data() + colon + 1, last, port, 16);
    if (read.ec == std::errc() && read.ptr == last) ports.insert(port);
  }
  return ports;
}

outcome<std::uint16_t> find_free_port(std::uint16_t wanted) {
  auto used = read_whole("/proc/net/tcp");
  if (!used) return fail(used.error());
  std::set<std::uint16_t> taken = ports_in_table(*used);
  if (auto six = read_whole("/proc/net/tcp6"))
    taken.merge(ports_in_table(*six));  // IPv6 may be off

  if (wanted != 0) {
    if (taken.count(wanted) == 0) return wanted;
    return fail(errc::bad_argument, "port " + std::to_string(wanted) +
                                        " is in use; leave --port out to get a free one");
  }
  std::uint32_t random = 0;
  if (::getrandom(&random, sizeof random, 0) != sizeof random)
    return fail(errc::system_failure, "getrandom gave no random number; give a port with --port");
  const std::uint16_t high = port_high();
  const std::uint32_t count = high - port_low + 1u;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto port = static_cast<std::uint16_t>(port_low + (random + i) % count);
    if (taken.count(port) == 0) return port;
  }
  return fail(errc::resource_exhausted, "all TCP ports from " + std::to_string(port_low) + " to " +
                                            std::to_string(high) +
                                            " are in use; give another one with --port");
}

}  // namespace troupe::cli
