#include "net/tcp/tcp_address.hpp"

#include <dirent.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

#include "net/tcp/detail/socket.hpp"
#include "runtime/descriptor.hpp"

namespace troupe::net {

namespace {

struct host_and_port_text {
  std::string host;
  std::string port;
};

outcome<host_and_port_text> split(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos)
    return fail(errc::bad_argument, "\"" + std::string(text) + "\" has no port: write host:port");
  auto host = text.substr(0, colon);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  else if (host.find(':') != std::string_view::npos)
    return fail(errc::bad_argument,
                "\"" + std::string(text) + "\": write an IPv6 address as [address]:port");
  if (host.empty())
    return fail(errc::bad_argument, "\"" + std::string(text) + "\" has no host: write host:port");
  return host_and_port_text{std::string(host), std::string(text.substr(colon + 1))};
}

outcome<std::uint16_t> parse_port(const std::string& text) {
  std::uint16_t port = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (code != std::errc{} || end != text.data() + text.size() || port == 0)
    return fail(errc::bad_argument, "port \"" + text + "\" is not a number from 1 to 65535");
  return port;
}

struct address_info_deleter {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};

// The addresses that `host` stands for, as the system resolver orders them; empty and `code` set
// if there are none.
std::vector<lane_address> look_up(const std::string& host, int flags, int& code) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* list = nullptr;
  code = ::getaddrinfo(host.c_str(), nullptr, &hints, &list);
  if (code != 0) return {};
  const std::unique_ptr<addrinfo, address_info_deleter> owner(list);
  std::vector<lane_address> found;
  for (const auto* entry = list; entry != nullptr; entry = entry->ai_next)
    if (entry->ai_family == AF_INET || entry->ai_family == AF_INET6)
      found.push_back(detail::to_lane_address(entry->ai_addr));
  return found;
}

bool is_link_local(const lane_address& address) {
  return address.host[0] == std::byte{0xfe} &&
         (address.host[1] & std::byte{0xc0}) == std::byte{0x80};
}

std::string list_of_interfaces() {
  std::string text;
  for (const auto& entry : interfaces()) {
    const auto with_port = to_string(entry.address);
    text += (text.empty() ? "" : ", ") + entry.name + " " +
            with_port.substr(0, with_port.rfind(':')) + (entry.is_up ? "" : " (down)");
  }
  return text;
}

outcome<lane_address> address_of_route(const lane_address& route_to) {
  if (route_to == lane_address{}) {
    int code = 0;
    return look_up("127.0.0.1", AI_NUMERICHOST, code).front();
  }
  // A datagram socket's connect sends nothing; it only chooses the route.
  const auto name = detail::to_socket_address(route_to);
  const descriptor socket(::socket(name.storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.valid() || ::connect(socket.number(), name.get(), name.length) != 0)
    return fail(failure({errc::unreachable, errno},
                        "no route to " + to_string(route_to) + ": " + std::strerror(errno) +
                            "; this machine has " + list_of_interfaces()));
  auto address = detail::local_address(socket.number());
  address.port = 0;
  return address;
}

}  // namespace

outcome<lane_address> resolve(std::string_view host_and_port) {
  const auto parts = split(host_and_port);
  if (!parts) return fail(parts.error());
  const auto port = parse_port(parts->port);
  if (!port) return fail(port.error());
  int code = 0;
  const auto found = look_up(parts->host, 0, code);
  if (found.empty())
    return fail(errc::unreachable,
                "host \"" + parts->host + "\" is not known: " + ::gai_strerror(code));
  const auto ipv4 = std::find_if(found.begin(), found.end(), detail::is_ipv4);
  auto address = ipv4 != found.end() ? *ipv4 : found.front();
  address.port = *port;
  return address;
}

std::vector<network_interface> interfaces() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, ::freeifaddrs);
  std::vector<network_interface> found;
  for (const auto* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr) continue;
    const auto family = entry->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    const auto address = detail::to_lane_address(entry->ifa_addr);
    if (is_link_local(address)) continue;
    found.push_back({entry->ifa_name, address, (entry->ifa_flags & IFF_UP) != 0});
  }
  return found;
}

outcome<lane_address> choose_listen_address(std::string_view interface,
                                            const lane_address& route_to) {
  if (interface.empty()) return address_of_route(route_to);
  const bool wants_ipv4 = route_to == lane_address{} || detail::is_ipv4(route_to);
  const auto all = interfaces();
  int code = 0;
  const auto literal = look_up(std::string(interface), AI_NUMERICHOST, code);
  for (const auto& entry : all) {
    if (!literal.empty() && entry.address == literal.front()) return entry.address;
    if (entry.name == interface && detail::is_ipv4(entry.address) == wants_ipv4)
      return entry.address;
  }
  // All of 127.0.0.0/8 is this machine, though the interface lists one address of it.
  if (!literal.empty() && detail::is_ipv4(literal.front()) &&
      literal.front().host[12] == std::byte{127})
    return literal.front();
  return fail(errc::bad_configuration,
              "bootstrap.interface: \"" + std::string(interface) + "\" is no " +
                  (literal.empty() ? (wants_ipv4 ? "interface with an IPv4 address"
                                                 : "interface with an IPv6 address")
                                   : "address") +
                  " of this machine, which has " + list_of_interfaces());
}

outcome<void> check_descriptor_limit(std::uint64_t needed) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return fail(failure({errc::system_failure, errno}, "getrlimit(RLIMIT_NOFILE) failed"));
  std::uint64_t open = 0;
  if (DIR* list = ::opendir("/proc/self/fd"); list != nullptr) {
    while (::readdir(list) != nullptr)
      ++open;
    ::closedir(list);
    open -= std::min<std::uint64_t>(open, 3);  // ".", ".." and the listing itself
  }
  const auto available = limit.rlim_cur > open ? limit.rlim_cur - open : 0;
  if (needed <= available) return {};
  return fail(errc::resource_exhausted, "descriptor limit too low: " + std::to_string(needed) +
                                            " needed, " + std::to_string(available) +
                                            " available (limit " + std::to_string(limit.rlim_cur) +
                                            ", " + std::to_string(open) +
                                            " open); raise it with ulimit -n");
}

}  // namespace troupe::net
