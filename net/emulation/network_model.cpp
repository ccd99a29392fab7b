#include "net/emulation/network_model.hpp"

#include <algorithm>
#include <span>

#include "net/emulation/text_fields.hpp"

namespace troupe::net::emulation {

namespace {

constexpr std::array<std::string_view, distance_count> distance_names{
    "same_host", "same_rack", "same_zone", "cross_zone", "cross_data_center", "unknown"};

constexpr std::uint32_t host_max = 65535;

using words = std::span<const std::string_view>;

tl::unexpected<failure> bad(std::string text) {
  return fail(errc::bad_configuration, std::move(text));
}

outcome<void> read_wire_field(wire_model& wire, std::string_view key, std::string_view value) {
  const auto take = [](auto read, auto& into) -> outcome<void> {
    if (!read) return fail(read.error());
    into = *read;
    return {};
  };
  if (key == "latency") return take(read_time(value), wire.latency_ns);
  if (key == "bandwidth") return take(read_rate(value), wire.byte_ps);
  if (key == "queue") return take(read_bytes(value), wire.queue_bytes);
  return bad("\"" + std::string(key) + "\" must be latency, bandwidth or queue");
}

outcome<void> read_tier(network_model& into, words line) {
  const auto* const found = std::find(distance_names.begin(), distance_names.end(),
                                      line.size() > 1 ? line[1] : std::string_view());
  if (found == distance_names.end())
    return bad(
        "a tier is one of same_host, same_rack, same_zone, cross_zone, cross_data_center, "
        "unknown");
  if (line.size() < 4 || line.size() % 2 != 0)
    return bad("tier NAME [latency TIME] [bandwidth RATE] [queue BYTES]");
  auto& wire = into.wires[static_cast<std::size_t>(found - distance_names.begin())];
  for (std::size_t i = 2; i < line.size(); i += 2)
    if (const auto done = read_wire_field(wire, line[i], line[i + 1]); !done) return done;
  if (wire.queue_bytes != ~std::uint64_t{0} && wire.byte_ps == 0)
    return bad("a queue needs a bandwidth that empties it");
  return {};
}

outcome<void> read_host(network_model& into, words line) {
  if (line.size() != 8 || line[2] != "data_center" || line[4] != "zone" || line[6] != "rack")
    return bad("host NUMBER[-NUMBER] data_center NAME zone NAME rack NAME");
  const auto dash = line[1].find('-');
  const auto first = read_count(line[1].substr(0, dash), 0, host_max);
  if (!first) return fail(first.error());
  const auto last = dash == std::string_view::npos
                        ? first
                        : read_count(line[1].substr(dash + 1), *first, host_max);
  if (!last) return fail(last.error());
  for (auto host = *first; host <= *last; ++host) {
    const bool is_new = into.hosts
                            .emplace(host, host_place{std::string(line[3]), std::string(line[5]),
                                                      std::string(line[7])})
                            .second;
    if (!is_new) return bad("host " + std::to_string(host) + " has a place already");
  }
  return {};
}

outcome<void> read_line(network_model& into, words line) {
  if (line[0] == "tier") return read_tier(into, line);
  if (line[0] == "host") return read_host(into, line);
  return bad("\"" + std::string(line[0]) + "\" must be tier or host");
}

}  // namespace

std::string_view name_of(distance far) {
  return distance_names[static_cast<std::size_t>(far)];
}

distance network_model::between(std::uint32_t host, std::uint32_t other) const {
  if (host == other) return distance::same_host;
  const auto one = hosts.find(host);
  const auto two = hosts.find(other);
  if (one == hosts.end() || two == hosts.end()) return distance::unknown;
  if (one->second.data_center != two->second.data_center) return distance::cross_data_center;
  if (one->second.zone != two->second.zone) return distance::cross_zone;
  return one->second.rack == two->second.rack ? distance::same_rack : distance::same_zone;
}

outcome<network_model> read_network(std::string_view text, std::string_view name) {
  network_model model;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = words_of(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    if (const auto read = read_line(model, line); !read)
      return bad(std::string(name) + ':' + std::to_string(number) + ": " + read.error().message);
  }
  return model;
}

passage pass(const wire_model& wire, std::uint64_t bytes, std::uint64_t now,
             std::uint64_t sender_free_at, std::uint64_t receiver_free_at) {
  const auto takes_ns = bytes * wire.byte_ps / 1000;
  passage made;
  made.departs_at = std::max(now, sender_free_at);
  made.sender_free_at = made.departs_at + takes_ns;
  const auto unhindered = made.sender_free_at + wire.latency_ns;
  made.arrives_at = std::max(unhindered, receiver_free_at + takes_ns);
  made.receiver_free_at = made.arrives_at;
  const auto waiting_ns = made.arrives_at - unhindered;
  const auto waiting_bytes = wire.byte_ps == 0 ? 0 : waiting_ns * 1000 / wire.byte_ps;
  if (waiting_bytes > wire.queue_bytes) {
    made.is_lost = true;
    made.receiver_free_at = receiver_free_at;
  }
  return made;
}

}  // namespace troupe::net::emulation
