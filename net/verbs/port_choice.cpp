#include "net/verbs/port_choice.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>

namespace troupe::net {

namespace {

/// One entry of the wish.
struct wished {
  std::string_view device;
  std::uint8_t port = 0;  ///< 0: each

  bool means(const verbs_port& found) const {
    return found.device == device && (port == 0 || found.number == port);
  }
};

std::string name_of(const verbs_port& port) {
  return port.device + ":" + std::to_string(port.number);
}

std::string_view name_of(verbs_link_layer layer) {
  return layer == verbs_link_layer::ethernet ? "Ethernet" : "InfiniBand";
}

std::optional<wished> parse(std::string_view entry) {
  wished out{.device = entry};
  if (const auto colon = entry.find(':'); colon != std::string_view::npos) {
    out.device = entry.substr(0, colon);
    const auto digits = entry.substr(colon + 1);
    const auto end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, out.port);
    if (read.ec != std::errc{} || read.ptr != end || out.port == 0) return std::nullopt;
  }
  if (out.device.empty()) return std::nullopt;
  return out;
}

outcome<std::vector<wished>> parse_list(std::string_view wish) {
  std::vector<wished> out;
  for (std::size_t from = 0; from <= wish.size();) {
    const auto comma = std::min(wish.find(',', from), wish.size());
    const auto entry = parse(wish.substr(from, comma - from));
    if (!entry)
      return fail(errc::bad_configuration, "verbs.devices = " + std::string(wish) + ": '" +
                                               std::string(wish.substr(from, comma - from)) +
                                               "' is not a device name with or without :port");
    out.push_back(*entry);
    from = comma + 1;
  }
  return out;
}

outcome<std::vector<verbs_port>> named(std::string_view wish, std::span<const verbs_port> found) {
  const auto list = parse_list(wish);
  if (!list) return fail(list.error());
  std::vector<verbs_port> out;
  for (const auto& entry : *list) {
    const auto before = out.size();
    const verbs_port* down = nullptr;
    for (const auto& port : found) {
      if (!entry.means(port)) continue;
      if (port.active) out.push_back(port);
      if (!port.active) down = &port;
    }
    if (out.size() != before && (entry.port == 0 || down == nullptr)) continue;
    const auto text = "verbs.devices = " + std::string(wish) + ": ";
    if (down != nullptr)
      return fail(errc::bad_configuration,
                  text + "port " + name_of(*down) + " is " + down->state +
                      "; bring it up, or leave it out; found: " + describe(found));
    return fail(errc::bad_configuration,
                text + "there is no " + std::string(entry.device) +
                    (entry.port == 0 ? "" : ":" + std::to_string(entry.port)) +
                    "; found: " + describe(found));
  }
  return out;
}

outcome<std::vector<verbs_port>> others(std::string_view unwanted,
                                        std::span<const verbs_port> found) {
  std::vector<wished> list;
  if (!unwanted.empty()) {
    auto parsed = parse_list(unwanted);
    if (!parsed) return fail(parsed.error());
    list = std::move(*parsed);
  }
  std::vector<verbs_port> out;
  for (const auto& port : found) {
    const bool excluded =
        std::any_of(list.begin(), list.end(), [&](const wished& each) { return each.means(port); });
    if (port.active && !excluded) out.push_back(port);
  }
  if (!out.empty()) return out;
  const auto reason = found.empty() ? std::string("this host has no RDMA device")
                                    : "no RDMA port is active" +
                                          std::string(list.empty() ? "" : " and not excluded") +
                                          "; found: " + describe(found);
  return fail(errc::not_available,
              "transport.lanes is verbs, and " + reason + "; set transport.lanes to auto");
}

bool is_ipv4(const verbs_gid& row) {
  return std::all_of(row.bytes.begin(), row.bytes.begin() + 10,
                     [](std::byte b) { return b == std::byte{0}; }) &&
         row.bytes[10] == std::byte{0xff} && row.bytes[11] == std::byte{0xff};
}

bool is_link_local(const verbs_gid& row) {
  return row.bytes[0] == std::byte{0xfe} && (row.bytes[1] & std::byte{0xc0}) == std::byte{0x80};
}

// The lower, the better; 3: of no use.
int rank_of(const verbs_gid& row) {
  if (!row.is_roce_v2) return 3;
  return is_ipv4(row) ? 0 : is_link_local(row) ? 2 : 1;
}

std::string describe_rows(std::span<const verbs_gid> rows) {
  std::string out;
  for (const auto& row : rows) {
    char text[48];
    char* at = text;
    for (std::size_t i = 0; i < row.bytes.size(); i += 2)
      at += std::snprintf(at, 6, "%s%02x%02x", i == 0 ? "" : ":",
                          std::to_integer<unsigned>(row.bytes[i]),
                          std::to_integer<unsigned>(row.bytes[i + 1]));
    out += (out.empty() ? "" : ", ") + std::to_string(row.index) + " " + text +
           (row.is_roce_v2 ? " RoCE v2" : "");
  }
  return out.empty() ? "none" : out;
}

}  // namespace

std::string describe(std::span<const verbs_port> ports) {
  std::string out;
  for (const auto& port : ports)
    out += (out.empty() ? "" : ", ") + name_of(port) + " (" + port.state + ", " +
           std::string(name_of(port.link_layer)) + ")";
  return out.empty() ? "none" : out;
}

outcome<std::vector<verbs_port>> choose_ports(std::string_view wish,
                                              std::span<const verbs_port> found) {
  const bool excludes = wish.starts_with('^');
  auto chosen =
      wish.empty() || excludes ? others(wish.substr(excludes ? 1 : 0), found) : named(wish, found);
  if (!chosen) return chosen;
  const auto layer = chosen->front().link_layer;
  const bool mixed = std::any_of(chosen->begin(), chosen->end(),
                                 [&](const verbs_port& port) { return port.link_layer != layer; });
  if (mixed)
    return fail(
        errc::bad_configuration,
        "the RDMA ports are partly on Ethernet and partly on InfiniBand, which cannot reach "
        "each other; name those of one kind in verbs.devices; found: " +
            describe(found));
  return chosen;
}

std::string describe_unused(std::span<const verbs_port> found) {
  if (found.empty()) return {};
  const bool usable =
      std::any_of(found.begin(), found.end(), [](const verbs_port& port) { return port.active; });
  return "the RDMA ports of this host are not used: transport.lanes = auto takes shared memory and "
         "sockets; " +
         std::string(usable ? "set it to verbs to use them" : "none of them is active, either") +
         "; found: " + describe(found);
}

outcome<verbs_gid> choose_gid(const verbs_port& port, std::uint32_t wish,
                              std::span<const verbs_gid> rows) {
  const bool on_ethernet = port.link_layer == verbs_link_layer::ethernet;
  const auto index = wish == any_gid_index && !on_ethernet ? 0 : wish;
  if (index != any_gid_index) {
    const auto row = std::find_if(rows.begin(), rows.end(),
                                  [&](const verbs_gid& each) { return each.index == index; });
    if (row != rows.end()) return *row;
    return fail(errc::bad_configuration, "verbs.gid_index = " + std::to_string(index) + ": port " +
                                             name_of(port) +
                                             " has no such row; its rows: " + describe_rows(rows));
  }
  const auto best = std::min_element(
      rows.begin(), rows.end(),
      [](const verbs_gid& a, const verbs_gid& b) { return rank_of(a) < rank_of(b); });
  if (best != rows.end() && rank_of(*best) < 3) return *best;
  return fail(errc::not_available,
              "port " + name_of(port) +
                  " has no RoCE v2 address: give its network interface an IP address and bring it "
                  "up, or name a row in verbs.gid_index; its rows: " +
                  describe_rows(rows));
}

}  // namespace troupe::net
