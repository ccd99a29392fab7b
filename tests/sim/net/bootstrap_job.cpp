#include "tests/sim/net/bootstrap_job.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace troupe::sim {

using namespace troupe::net;
using namespace std::chrono_literals;

job job_of(std::uint64_t seed) {
  job j{.seed = seed, .random = random_stream(seed).fork(2)};
  j.world_size = static_cast<std::uint32_t>(j.random.one_in(25) ? j.random.between(17, 140)
                                                                : j.random.between(1, 16));
  if (j.random.one_in(4) && j.world_size > 2) {
    // A tree: the smallest fan-out that reaches, or a little more.
    std::uint32_t fan_out = 2;
    while (fan_out * fan_out < j.world_size)
      ++fan_out;
    j.fan_out = std::min(fan_out + static_cast<std::uint32_t>(j.random.below(2)), j.world_size);
  }
  j.lanes = static_cast<std::uint32_t>(j.random.between(0, 3));
  j.timeout = std::chrono::milliseconds(j.random.between(2000, 8000));
  return j;
}

std::vector<std::byte> secret_of(std::uint64_t word) {
  std::vector<std::byte> out(16);
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<std::byte>(word + i);
  return out;
}

// Four ranks a host, ten hosts a rack, ten racks a zone.
place_code place_of(std::uint32_t r) {
  return {1, r / 400 + 1, r / 40 + 1, r / 4 + 1};
}

bootstrap_options options_of(const job& j, std::uint32_t r) {
  bootstrap_options o;
  o.self = rank{r};
  o.world_size = j.world_size;
  o.rendezvous = address_of(0);
  o.job = 77;
  o.secret = secret_of(j.seed);
  o.crypto = {quick_mac, quick_equal};
  o.must_agree = {{"transport.segment_bytes", "262144"}, {"collective.chunk_bytes", "1048576"}};
  o.data_lane_count = j.lanes;
  o.place = place_of(r);
  o.timeout = j.timeout;
  o.step_timeout = j.timeout / 4;
  o.connect_timeout = j.timeout / 4;
  o.rendezvous_fan_out = j.fan_out;
  o.pending_connection_count = 16;
  return o;
}

weather weather_of(job& j) {
  weather w;
  w.delay_min = std::chrono::microseconds(j.random.between(1, 50));
  w.delay_max = w.delay_min + std::chrono::microseconds(j.random.between(0, 3000));
  if (j.random.one_in(8)) w.delay_max += 15ms;
  return w;
}

instant start_of(job& j, duration spread) {
  const instant at{duration(j.random.below(static_cast<std::uint64_t>(spread.count()) + 1))};
  j.last_start = std::max(j.last_start, at);
  return at;
}

void add_ranks(bootstrap_world& world, job& j, duration spread) {
  for (std::uint32_t r = 0; r < j.world_size; ++r)
    world.add_process(options_of(j, r), r, start_of(j, spread));
}

void add_strangers(bootstrap_world& world, job& j) {
  const auto count = j.random.below(30);
  const auto within = static_cast<std::uint64_t>(duration(j.timeout).count()) / 4;
  for (std::uint64_t i = 0; i < count; ++i)
    world.add_stranger(static_cast<std::uint32_t>(j.random.below(j.world_size)),
                       instant(duration(j.random.below(within))),
                       static_cast<stranger_act>(j.random.below(stranger_act_count)));
}

namespace {

std::uint64_t page_count_of(const job& j) {
  return (j.world_size + page_entry_count - 1) / page_entry_count;
}

}  // namespace

std::uint64_t page_sum_of(const job& j) {
  return page_count_of(j) * (j.world_size - 1) + j.world_size - page_count_of(j);
}

void require_books(bootstrap_world& world, const job& j) {
  for (std::uint32_t r = 0; r < j.world_size; ++r) {
    auto& p = world.process(r);
    if (p.joined_at == never) continue;
    REQUIRE_IN(j, p.state.book.size() == j.world_size);
    for (std::uint32_t other = 0; other < j.world_size; ++other) {
      const auto& entry = p.state.book.at(rank{other});
      REQUIRE_IN(j, entry.address == address_of(other));
      REQUIRE_IN(j, entry.place == place_of(other));
    }
  }
}

void require_bounds(bootstrap_world& world, const job& j) {
  REQUIRE_IN(j, world.deepest_lane() <= bootstrap_lane_depth_min);
  std::uint64_t pages = 0;
  for (std::uint32_t r = 0; r < world.process_count(); ++r) {
    const auto& p = world.process(r);
    const auto& c = p.state.counters;
    // Registrations, unproved strangers, two ring sides and the repair's, our own dial.
    const auto links = std::uint64_t{j.world_size} * (j.lanes + 1) * 2;
    const auto fan = std::min(j.fan_out, j.world_size) + p.state.options.pending_connection_count;
    REQUIRE_IN(j, c.connections_peak <= fan + 6 + links);
    REQUIRE_IN(j, p.state.connections.size() <= fan + 6 + links);
    REQUIRE_IN(j, c.pages_sent <= page_count_of(j) + 1);
    pages += c.pages_sent;
    // Dial: hello, proof, one word. Accept: challenge, verdict, one word and its repetition.
    const auto deaths = p.deaths.size();
    REQUIRE_IN(j, c.messages_sent <= 4 * p.dial_count + 5 * p.accept_count + c.pages_sent +
                                         page_count_of(j) / 2 + 4 * deaths + 8);
    // Pauses grow to a thirtieth of the timeout, half of it at least: so many dials fit into it,
    // in a tree two each; and six for each neighbour that is gone.
    REQUIRE_IN(j, p.dial_count <= 2 * 60 + 8 + 6 * (deaths + 1) + links * 8);
  }
  REQUIRE_IN(j, pages <= page_sum_of(j));
}

void require_all_joined(bootstrap_world& world, const job& j) {
  for (std::uint32_t r = 0; r < j.world_size; ++r) {
    auto& p = world.process(r);
    REQUIRE_TEXT(j, p.joined_at != never, p.reason.message + " (rank " + std::to_string(r) + ")");
    REQUIRE_IN(j, p.joined_at <= j.last_start + j.timeout);
    REQUIRE_IN(j, p.failed_at == never);
    REQUIRE_IN(j, p.deaths.empty());
  }
  require_books(world, j);
}

void require_all_failed(bootstrap_world& world, const job& j, const text_check& precise) {
  for (std::uint32_t r = 0; r < world.process_count(); ++r) {
    auto& p = world.process(r);
    if (p.failed_at == never && p.ended) continue;  // crashed
    REQUIRE_IN(j, p.joined_at == never);
    REQUIRE_IN(j, p.failed_at != never);
    REQUIRE_IN(j, p.failed_at <= p.state.started + j.timeout);
    REQUIRE_TEXT(j, precise(p.reason), to_string(p.reason));
  }
}

bool says(const failure& f, std::string_view words) {
  return f.message.find(words) != std::string::npos;
}

void run_to_end(bootstrap_world& world, const job& j) {
  // The largest jobs take a hundred thousand events: far more is a flood that feeds itself.
  REQUIRE_IN(j, world.run(instant{} + 3600s, 1'000'000));
}

void require_one_link(bootstrap_world& world, const job& j, std::uint32_t a, std::uint32_t b) {
  const auto lanes_of = [&](std::uint32_t from, std::uint32_t to) {
    std::map<std::uint8_t, std::pair<std::uint32_t, std::uint64_t>> out;
    for (const auto& lane : world.process(from).lanes) {
      if (!lane.up || lane.peer.value != to) continue;
      REQUIRE_IN(j, lane.lane_count == j.lanes + 1);
      REQUIRE_IN(j, world.other_end(lane.wire, from) == to);
      REQUIRE_IN(j, !out.contains(lane.lane));
      out[lane.lane] = {lane.wire, lane.instance};
    }
    return out;
  };
  const auto ours = lanes_of(a, b);
  REQUIRE_IN(j, ours.size() == j.lanes + 1);
  REQUIRE_IN(j, ours == lanes_of(b, a));
  for (const auto& [lane, where] : ours)
    REQUIRE_IN(j, where.second == ours.at(0).second);
}

}  // namespace troupe::sim
