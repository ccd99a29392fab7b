// What queues of switches see of zero-copy links, with nothing that throttles them, with fixed
// budgets and with adapting windows (docs/dqplb.md):
//
//   incast_study [--quick] [--json FILE]
//
// Topology: zones of 213 hosts in racks of 16, two zones in each of two data centres. Host links
// have 400 Gbit/s. Between zones and data centres there are 76 planes with one link of 400 Gbit/s
// from and to every zone, so that 213 hosts share 76 links: 1 : 2.8. Inside of a zone only the
// links to hosts can be short. Round trips are 10 us in a rack, and 7, 15 and 30 times that to
// other racks, zones and data centres. A lane keeps to one plane, chosen by a hash.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "runtime/random.hpp"
#include "tests/sim/net/placed_world.hpp"

namespace troupe::bench {
namespace {

using net::placed_flow;
using net::placed_options;
using net::placed_world;

using namespace std::chrono_literals;

constexpr std::uint64_t link_bytes_per_second = 50'000'000'000;
constexpr duration rack_round_trip = 10us;
constexpr std::array<int, 6> round_trips{1, 1, 7, 15, 30, 30};  // by tier
constexpr std::uint32_t hosts_per_rack = 16;
constexpr std::uint32_t lanes_per_link = 16;  // as many queue pairs as the paper gives a link
constexpr std::uint32_t sample_count_max = 4000;

struct scale {
  std::uint32_t hosts_per_zone = 213;
  std::uint32_t planes = 76;
  std::uint32_t senders_per_tier = 64;
  std::uint32_t puts = 4;
};

/// Host `index` of a zone; zones 0 and 1 are in one data centre, 2 and 3 in the other.
place place_of(std::uint32_t zone, std::uint32_t index) {
  const std::string dc = zone < 2 ? "east" : "west";
  const std::string name = dc + std::to_string(zone);
  return {dc, name, name + "-r" + std::to_string(index / hosts_per_rack),
          name + "-h" + std::to_string(index)};
}

/// The network of the study: which ports a lane passes.
class plant {
 public:
  plant(const scale& size, placed_world& world, std::vector<std::uint32_t> zones)
      : size_(size), world_(world), zones_(std::move(zones)) {
    auto& wires = world.wires();
    for (std::size_t host = 0; host < zones_.size(); ++host)
      to_host_.push_back(wires.add_port(link_bytes_per_second));
    for (auto* ports : {&up_, &down_})
      for (std::uint32_t i = 0; i < 4 * size.planes; ++i)
        ports->push_back(wires.add_port(link_bytes_per_second));
    set_routes();
  }

  /// Lanes of this plane move to others.
  void lose_plane(std::uint32_t plane) {
    lost_ = plane;
    set_routes();
  }

  const std::vector<std::uint32_t>& host_ports() const { return to_host_; }
  std::vector<std::uint32_t> plane_ports() const {
    auto all = up_;
    all.insert(all.end(), down_.begin(), down_.end());
    return all;
  }

 private:
  void set_routes() {
    world_.wires().set_routes(
        [this](auto from, auto to, auto lane) { return way(from, to, lane); });
  }

  std::uint32_t plane_of(std::uint32_t from, std::uint32_t to, std::uint32_t lane) const {
    random_stream draw(std::uint64_t{from} << 40 ^ std::uint64_t{to} << 20 ^ lane);
    auto plane = static_cast<std::uint32_t>(draw.below(size_.planes));
    if (lost_ && plane == *lost_)
      plane = (plane + 1 + static_cast<std::uint32_t>(draw.below(size_.planes - 1))) % size_.planes;
    return plane;
  }

  net::fabric_route way(std::uint32_t from, std::uint32_t to, std::uint32_t lane) const {
    const auto distance = world_.tier_between(from, to);
    net::fabric_route route;
    route.latency = rack_round_trip * round_trips[static_cast<std::size_t>(distance)] / 2;
    if (distance >= tier::cross_zone) {
      const auto plane = plane_of(from, to, lane);
      route.ports[route.port_count++] = up_[zones_[from] * size_.planes + plane];
      route.ports[route.port_count++] = down_[zones_[to] * size_.planes + plane];
    }
    route.ports[route.port_count++] = to_host_[to];
    return route;
  }

  scale size_;
  placed_world& world_;
  std::vector<std::uint32_t> zones_;
  std::optional<std::uint32_t> lost_;
  std::vector<std::uint32_t> to_host_, up_, down_;
};

struct scenario {
  std::string name{};
  std::vector<place> places{};
  std::vector<std::uint32_t> zones{};
  std::vector<placed_flow> flows{};
  double bottleneck_bytes_per_second = 0;
  bool watches_planes = false;
  bool loses_plane = false;
};

/// Senders of one tier, or of all four, to one host.
scenario incast(const scale& size, std::string name, const std::vector<tier>& tiers) {
  scenario out{.name = std::move(name)};
  out.bottleneck_bytes_per_second = double(link_bytes_per_second);
  const auto add = [&](std::uint32_t zone, std::uint32_t index) {
    out.places.push_back(place_of(zone, index));
    out.zones.push_back(zone);
  };
  add(0, 0);
  for (const auto distance : tiers) {
    for (std::uint32_t i = 0; i < size.senders_per_tier; ++i) {
      // A rack has 15 other hosts: several senders share one, each with a card of its own.
      switch (distance) {
        case tier::same_rack: add(0, 1 + i % (hosts_per_rack - 1)); break;
        case tier::same_zone: add(0, hosts_per_rack + i); break;
        case tier::cross_zone: add(1, i); break;
        default: add(2, i); break;
      }
      if (distance == tier::same_rack) out.places.back().host += "-" + std::to_string(i);
      out.flows.push_back({static_cast<std::uint32_t>(out.places.size() - 1), 0, size.puts, never});
    }
  }
  return out;
}

/// Every host of a zone to the host of the same number in another.
scenario shift(const scale& size, bool loses_plane) {
  scenario out{.name = loses_plane ? "zone to zone, a plane lost" : "zone to zone"};
  for (std::uint32_t zone = 0; zone < 2; ++zone) {
    for (std::uint32_t i = 0; i < size.hosts_per_zone; ++i) {
      out.places.push_back(place_of(zone, i));
      out.zones.push_back(zone);
    }
  }
  for (std::uint32_t i = 0; i < size.hosts_per_zone; ++i)
    out.flows.push_back({i, size.hosts_per_zone + i, size.puts, never});
  out.bottleneck_bytes_per_second =
      double(link_bytes_per_second) * (size.planes - (loses_plane ? 1 : 0));
  out.watches_planes = true;
  out.loses_plane = loses_plane;
  return out;
}

struct result_row {
  std::string scenario;
  std::string cap;
  std::uint64_t queue_bytes_max = 0;
  std::uint64_t queue_bytes_p99 = 0;
  double time_above_share = 0;
  double goodput_share = 0;
  double first_done_ms = 0;
  double last_done_ms = 0;
  std::uint64_t leases = 0;
  std::vector<std::pair<double, std::uint64_t>> queue_over_time{};  ///< ms, bytes
};

/// The worst of the ports that count.
net::fabric_port_report worst(placed_world& world, const std::vector<std::uint32_t>& ports) {
  net::fabric_port_report out;
  for (const auto port : ports) {
    const auto one = world.wires().report(port);
    out.queue_bytes_max = std::max(out.queue_bytes_max, one.queue_bytes_max);
    out.queue_bytes_p99 = std::max(out.queue_bytes_p99, one.queue_bytes_p99);
    out.time_above = std::max(out.time_above, one.time_above);
    out.watched = std::max(out.watched, one.watched);
  }
  return out;
}

result_row play(const scale& size, scenario what, const std::string& cap) {
  placed_options options;
  options.limits.transport.data_lane_count = lanes_per_link;
  for (auto* section : {&options.limits.tier_same_host, &options.limits.tier_same_rack,
                        &options.limits.tier_same_zone, &options.limits.tier_cross_zone,
                        &options.limits.tier_cross_data_center, &options.limits.tier_unknown})
    section->cap = cap;
  placed_world world(options, what.places);
  plant network(size, world, what.zones);
  world.connect(what.flows);
  const auto ports = what.watches_planes ? network.plane_ports()
                                         : std::vector<std::uint32_t>{network.host_ports()[0]};
  world.wires().watch_ports_anew();
  const auto begin = world.wires().now();
  const auto leases_before = world.lease_requests();
  result_row row{.scenario = what.name, .cap = cap};
  std::uint32_t steps = 0;
  world.run(what.flows, 100us, [&] {
    ++steps;
    if (what.loses_plane && steps == 1) network.lose_plane(0);
    if (row.queue_over_time.size() < sample_count_max) {
      std::uint64_t now = 0;
      for (const auto port : ports)
        now = std::max(now, world.wires().queue_bytes(port));
      const auto at = std::chrono::duration<double, std::milli>(world.wires().now() - begin);
      row.queue_over_time.emplace_back(at.count(), now);
    }
  });
  instant first = never;
  instant last = begin;
  double bytes = 0;
  for (const auto& flow : what.flows) {
    first = std::min(first, flow.done_at);
    last = std::max(last, flow.done_at);
    bytes += double(options.put_bytes) * flow.put_count;
  }
  const auto report = worst(world, ports);
  const auto in_ms = [begin](instant at) {
    return std::chrono::duration<double, std::milli>(at - begin).count();
  };
  row.queue_bytes_max = report.queue_bytes_max;
  row.queue_bytes_p99 = report.queue_bytes_p99;
  row.time_above_share = double(report.time_above.count()) / double(report.watched.count());
  row.goodput_share = bytes / (in_ms(last) / 1000) / what.bottleneck_bytes_per_second;
  row.first_done_ms = in_ms(first);
  row.last_done_ms = in_ms(last);
  row.leases = world.lease_requests() - leases_before;
  return row;
}

std::string mib(std::uint64_t bytes) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f", double(bytes) / double(1 << 20));
  return text.data();
}

void print(const result_row& row) {
  std::printf("| %-26s | %-8s | %10s | %10s | %5.1f %% | %5.1f %% | %8.2f | %8.2f | %6llu |\n",
              row.scenario.c_str(), row.cap.c_str(), mib(row.queue_bytes_max).c_str(),
              mib(row.queue_bytes_p99).c_str(), 100 * row.time_above_share, 100 * row.goodput_share,
              row.first_done_ms, row.last_done_ms, static_cast<unsigned long long>(row.leases));
  std::fflush(stdout);
}

void write_json(const std::vector<result_row>& rows, const std::string& path) {
  std::ofstream out(path);
  out << "[\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& row = rows[i];
    out << "{\"scenario\": \"" << row.scenario << "\", \"cap\": \"" << row.cap
        << "\", \"queue_bytes_max\": " << row.queue_bytes_max
        << ", \"queue_bytes_p99\": " << row.queue_bytes_p99
        << ", \"time_above_share\": " << row.time_above_share
        << ", \"goodput_share\": " << row.goodput_share << ", \"queue\": [";
    for (std::size_t k = 0; k < row.queue_over_time.size(); ++k)
      out << (k == 0 ? "" : ", ") << '[' << row.queue_over_time[k].first << ", "
          << row.queue_over_time[k].second << ']';
    out << "]}" << (i + 1 < rows.size() ? "," : "") << '\n';
  }
  out << "]\n";
}

int run(const scale& size, const std::string& json) {
  const auto per_tier = std::to_string(size.senders_per_tier);
  std::vector<scenario> scenarios;
  scenarios.push_back(incast(size, per_tier + " in one rack", {tier::same_rack}));
  scenarios.push_back(incast(size, per_tier + " in one zone", {tier::same_zone}));
  scenarios.push_back(incast(size, per_tier + " from another zone", {tier::cross_zone}));
  scenarios.push_back(incast(size, per_tier + " from another centre", {tier::cross_data_center}));
  scenarios.push_back(
      incast(size, per_tier + " of each",
             {tier::same_rack, tier::same_zone, tier::cross_zone, tier::cross_data_center}));
  scenarios.push_back(shift(size, false));
  scenarios.push_back(shift(size, true));
  std::printf(
      "| traffic | cap | queue max, MiB | p99, MiB | above 1 MiB | goodput | first done, ms "
      "| last done, ms | leases |\n|---|---|---|---|---|---|---|---|---|\n");
  std::vector<result_row> rows;
  for (const auto& each : scenarios) {
    for (const char* cap : {"off", "fixed", "adaptive"}) {
      rows.push_back(play(size, each, cap));
      print(rows.back());
    }
  }
  if (!json.empty()) write_json(rows, json);
  return 0;
}

}  // namespace
}  // namespace troupe::bench

int main(int count, char** words) {
  troupe::bench::scale size;
  std::string json;
  for (int i = 1; i < count; ++i) {
    if (std::strcmp(words[i], "--quick") == 0) {
      size = {.hosts_per_zone = 14, .planes = 5, .senders_per_tier = 6, .puts = 2};
    } else if (std::strcmp(words[i], "--json") == 0 && i + 1 < count) {
      json = words[++i];
    } else {
      std::cerr << "incast_study [--quick] [--json FILE]\n";
      return 2;
    }
  }
  return troupe::bench::run(size, json);
}
