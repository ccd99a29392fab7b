#define BOOST_TEST_MODULE bootstrap_sim
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "runtime/mark.hpp"
#include "tests/sim/net/bootstrap_world.hpp"

using namespace troupe;
using namespace troupe::net;
using namespace troupe::sim;
using namespace std::chrono_literals;

namespace {

// The shape of one seed's job, before anything goes wrong.
struct job {
  std::uint64_t seed = 0;
  std::uint32_t world_size = 1;
  std::uint32_t fan_out = 1024;
  std::uint32_t lanes = 1;
  duration timeout = 5s;
  instant last_start{};
  random_stream random;

  std::string about() const {
    return "seed " + std::to_string(seed) + ", " + std::to_string(world_size) + " ranks, fan-out " +
           std::to_string(fan_out);
  }
};

#define REQUIRE_IN(job, condition) \
  BOOST_REQUIRE_MESSAGE(condition, #condition << ": " << (job).about())
#define REQUIRE_TEXT(job, condition, text) \
  BOOST_REQUIRE_MESSAGE(condition, #condition << ": " << (job).about() << "; text: " << (text))

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
  o.host_id = r / 4;
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

// Ranks start up to `spread` apart.
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

std::uint64_t page_count_of(const job& j) {
  return (j.world_size + page_entry_count - 1) / page_entry_count;
}

// Each page goes once around, and its ranks make it on the way.
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
      REQUIRE_IN(j, entry.host_id == other / 4);
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

using text_check = std::function<bool(const failure&)>;

// Every process that is still there failed in time with what `precise` wants.
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
  // Nothing may be left to happen long after every deadline.
  REQUIRE_IN(j, world.run(instant{} + 3600s));
}

// -- scenarios: each returns the trace hash ---------------------------------------------------

std::uint64_t healthy(job j) {
  auto w = weather_of(j);
  const bool rough = j.random.one_in(2);
  if (rough) w.cut_one_in = 8;
  if (rough) j.timeout += 5s;
  bootstrap_world world(j.seed, w);
  if (j.random.one_in(4)) {
    world.add_squatter(0, static_cast<squatter_act>(1 + 2 * j.random.below(2)));
  }
  add_ranks(world, j, rough ? j.timeout / 3 : 1ms);
  if (rough) add_strangers(world, j);
  run_to_end(world, j);
  require_all_joined(world, j);
  require_bounds(world, j);
  std::uint64_t pages = 0;
  for (std::uint32_t r = 0; r < j.world_size; ++r)
    pages += world.process(r).state.counters.pages_sent;
  if (j.world_size > 1) REQUIRE_IN(j, pages == page_sum_of(j));
  return world.trace_hash();
}

// A rank that is started again while the job runs is refused, and the job goes on.
std::uint64_t late_twin(job j) {
  if (j.world_size < 2) return healthy(j);
  bootstrap_world world(j.seed, weather_of(j));
  add_ranks(world, j, 5ms);
  run_to_end(world, j);
  require_all_joined(world, j);
  const auto twin = static_cast<std::uint32_t>(j.random.between(1, j.world_size - 1));
  const auto index = world.add_process(options_of(j, twin), j.world_size, world.now());
  run_to_end(world, j);
  const auto& late = world.process(index);
  REQUIRE_TEXT(j, late.reason.code() == errc::membership_conflict, to_string(late.reason));
  REQUIRE_TEXT(j,
               late.reason.message.find("is there twice: at " + to_string(address_of(twin))) !=
                   std::string::npos,
               to_string(late.reason));
  require_all_joined(world, j);
  return world.trace_hash();
}

std::uint64_t wrong_secret(job j) {
  if (j.world_size < 2) return healthy(j);
  bootstrap_world world(j.seed, weather_of(j));
  const auto odd = static_cast<std::uint32_t>(j.random.below(j.world_size));
  for (std::uint32_t r = 0; r < j.world_size; ++r) {
    auto o = options_of(j, r);
    if (r == odd) o.secret = secret_of(j.seed + 1);
    world.add_process(o, r, start_of(j, 100ms));
  }
  run_to_end(world, j);
  require_all_failed(world, j, [&](const failure& f) {
    if (f.code() == errc::authentication_failed) return says(f, "secrets differ");
    // Those with the right secret miss the odd one; all miss it if it is rank 0.
    return f.code() == errc::timed_out || f.code() == errc::unreachable;
  });
  if (odd != 0) {
    const auto& alien = world.process(odd).reason;
    REQUIRE_TEXT(j, alien.code() == errc::authentication_failed, to_string(alien));
    REQUIRE_IN(j,
               j.world_size > 16 || world.process(odd).failed_at <= j.last_start + j.timeout / 2);
    if (!world.process(0).state.plan.is_tree())
      REQUIRE_TEXT(j,
                   says(world.process(0).reason, "rank " + std::to_string(odd) + " of") &&
                       says(world.process(0).reason, "failed to prove"),
                   to_string(world.process(0).reason));
  }
  return world.trace_hash();
}

std::uint64_t duplicate_rank(job j) {
  if (j.world_size < 3) return healthy(j);
  bootstrap_world world(j.seed, weather_of(j));
  // One rank was started as another: one is there twice, one is missing.
  const auto lost = static_cast<std::uint32_t>(j.random.between(1, j.world_size - 1));
  // Never rank 0: a second one could not listen at the rendezvous.
  const auto twin = lost % (j.world_size - 1) + 1;
  for (std::uint32_t r = 0; r < j.world_size; ++r)
    world.add_process(options_of(j, r == lost ? twin : r), r, start_of(j, 100ms));
  run_to_end(world, j);
  const bool leader_missing = world.process(0).state.plan.is_leader(rank{lost});
  require_all_failed(world, j, [&](const failure& f) {
    // In a tree whose missing rank is a leader, the group has nobody to tell it.
    if (leader_missing && f.code() != errc::membership_conflict) return true;
    return f.code() == errc::membership_conflict && says(f, "is there twice: at ") &&
           says(f, to_string(address_of(lost))) && says(f, to_string(address_of(twin)));
  });
  return world.trace_hash();
}

std::uint64_t misfit_rank(job j) {
  if (j.world_size < 2) return healthy(j);
  bootstrap_world world(j.seed, weather_of(j));
  const auto odd = static_cast<std::uint32_t>(j.random.between(1, j.world_size - 1));
  const auto kind = j.random.below(4);
  const bool many = j.random.one_in(2);
  for (std::uint32_t r = 0; r < j.world_size; ++r) {
    auto o = options_of(j, r);
    if (r == odd && kind == 0) o.self = rank{j.world_size + 3};
    if (r == odd && kind == 1) o.world_size = j.world_size + 1;
    if (many)
      for (int i = 0; i < 60; ++i)
        o.must_agree.insert(o.must_agree.begin(), {"other.option" + std::to_string(i), "value"});
    if (r == odd && kind == 2) o.must_agree.back().value = "4096";
    if (r == odd && kind == 3) o.protocol_version = 2;
    world.add_process(o, r, start_of(j, 100ms));
  }
  const auto name = "rank " + std::to_string(kind == 0 ? j.world_size + 3 : odd);
  run_to_end(world, j);
  const auto& plan = world.process(0).state.plan;
  const bool breaks_tree = plan.is_tree() && (plan.is_leader(rank{odd}) || kind == 1 || kind == 0);
  require_all_failed(world, j, [&](const failure& f) {
    if (breaks_tree && (f.code() == errc::timed_out || f.code() == errc::unreachable)) return true;
    if (kind == 1 && f.code() == errc::not_available) return plan.is_tree();
    switch (kind) {
      case 0:
        return f.code() == errc::membership_conflict && says(f, name) && says(f, "out of range");
      case 1:
        return f.code() == errc::membership_conflict && says(f, "world size of") &&
               says(f, std::to_string(j.world_size) + "") &&
               says(f, std::to_string(j.world_size + 1));
      case 2:
        return f.code() == errc::bad_configuration && says(f, "collective.chunk_bytes") &&
               says(f, "4096 at " + name) && says(f, "1048576 at");
      default:
        return f.code() == errc::version_mismatch && says(f, "version 2") && says(f, "version 1");
    }
  });
  return world.trace_hash();
}

std::uint64_t missing_ranks(job j) {
  if (j.world_size < 2) return healthy(j);
  bootstrap_world world(j.seed, weather_of(j));
  std::vector<bool> missing(j.world_size, false);
  for (std::uint32_t r = 1; r < j.world_size; ++r)
    missing[r] = j.random.one_in(4);
  missing[j.random.between(1, j.world_size - 1)] = true;
  if (j.random.one_in(10)) missing[0] = true;
  const bool squatted = missing[0] && j.random.one_in(2);
  if (squatted) world.add_squatter(0, squatter_act::answer_other_format);
  for (std::uint32_t r = 0; r < j.world_size; ++r)
    if (!missing[r]) world.add_process(options_of(j, r), r, start_of(j, 200ms));
  if (world.process_count() == 0) return 0;
  if (j.random.one_in(3)) add_strangers(world, j);
  run_to_end(world, j);
  const bool tree = world.process(0).state.plan.is_tree();
  require_all_failed(world, j, [&](const failure& f) {
    if (squatted) return f.code() == errc::version_mismatch && says(f, "another format");
    if (missing[0]) return f.code() == errc::unreachable && says(f, "rank 0 (") && says(f, "dials");
    if (tree)
      return says(f, "did not register within") || says(f, "did not become complete") ||
             says(f, "leader");
    for (std::uint32_t r = 0; r < j.world_size; ++r) {
      const bool starts_range = missing[r] && (r == 0 || !missing[r - 1]);
      if (starts_range && r < 20 && !says(f, std::to_string(r))) return false;
    }
    return f.code() == errc::timed_out && says(f, "did not register within");
  });
  return world.trace_hash();
}

std::uint64_t dies_or_hangs_while_joining(job j) {
  if (j.world_size < 2) return healthy(j);
  bootstrap_world world(j.seed, weather_of(j));
  add_ranks(world, j, 5ms);
  const auto victim = static_cast<std::uint32_t>(j.random.below(j.world_size));
  const auto end = j.random.below(4);
  const bool hangs = end == 0;
  const bool leaves = end == 1;
  const instant when{duration(j.random.below(20'000'000))};
  world.at(when, [&] {
    if (hangs) return world.stop(victim);
    if (leaves) return world.leave(victim);
    world.crash(victim);
  });
  run_to_end(world, j);
  const auto name = std::to_string(victim);
  for (std::uint32_t r = 0; r < j.world_size; ++r) {
    const auto& p = world.process(r);
    if (r == victim) continue;
    if (p.joined_at != never) {
      // It had joined: then a death is what it hears, once; of those that fail to join, too.
      REQUIRE_IN(j, p.failed_at == never);
      if (!hangs && !leaves)
        REQUIRE_IN(j, std::count(p.deaths.begin(), p.deaths.end(), rank{victim}) == 1);
      continue;
    }
    REQUIRE_IN(j, p.failed_at != never);
    REQUIRE_IN(j, p.failed_at <= p.state.started + j.timeout);
    const auto code = p.reason.code();
    REQUIRE_TEXT(j, code == errc::peer_lost || code == errc::timed_out || code == errc::unreachable,
                 to_string(p.reason));
  }
  require_books(world, j);
  return world.trace_hash();
}

std::uint64_t deaths_after_joining(job j) {
  if (j.world_size < 2) return healthy(j);
  bootstrap_world world(j.seed, weather_of(j));
  add_ranks(world, j, 5ms);
  run_to_end(world, j);
  require_all_joined(world, j);
  std::vector<bool> dead(j.world_size, false);
  const auto count = std::min<std::uint64_t>(j.random.between(1, 4), j.world_size - 1);
  const auto first = j.random.below(j.world_size);
  const auto start = world.now();
  for (std::uint64_t i = 0; i < count; ++i) {
    // Neighbours half of the time, at once half of the time.
    auto victim = static_cast<std::uint32_t>(j.random.one_in(2) ? (first + i) % j.world_size
                                                                : j.random.below(j.world_size));
    while (dead[victim])
      victim = (victim + 1) % j.world_size;
    dead[victim] = true;
    const auto when =
        start + (j.random.one_in(2) ? duration(1) : duration(j.random.below(3'000'000'000)));
    world.at(when, [&world, victim] { world.crash(victim); });
  }
  if (j.random.one_in(3)) {
    const auto teller = static_cast<std::uint32_t>(j.random.below(j.world_size));
    const auto subject = static_cast<std::uint32_t>(first);
    if (dead[subject] && !dead[teller])
      world.at(start + 4s,
               [&world, teller, subject] { world.feed(teller, death_learned{rank{subject}}); });
  }
  run_to_end(world, j);
  for (std::uint32_t r = 0; r < j.world_size; ++r) {
    if (dead[r]) continue;
    const auto& heard = world.process(r).deaths;
    for (std::uint32_t other = 0; other < j.world_size; ++other)
      REQUIRE_IN(j, std::count(heard.begin(), heard.end(), rank{other}) == (dead[other] ? 1 : 0));
  }
  require_bounds(world, j);
  return world.trace_hash();
}

// Both ends have the same lanes of the same link, each lane on the same connection.
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

std::uint64_t links_on_demand(job j) {
  if (j.world_size < 2) return healthy(j);
  auto w = weather_of(j);
  const bool rough = j.random.one_in(2);
  if (rough) w.cut_one_in = 5;
  bootstrap_world world(j.seed, w);
  add_ranks(world, j, 5ms);
  // Wanted early: some peers have not joined when their neighbour's dial comes.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  const auto pair_count = j.random.between(1, 6);
  for (std::uint64_t i = 0; i < pair_count; ++i) {
    const auto a = static_cast<std::uint32_t>(j.random.below(j.world_size));
    const auto b =
        static_cast<std::uint32_t>((a + 1 + j.random.below(j.world_size - 1)) % j.world_size);
    pairs.emplace_back(a, b);
  }
  run_to_end(world, j);
  require_all_joined(world, j);
  const auto start = world.now();
  for (const auto& [a, b] : pairs) {
    const auto when = start + duration(j.random.below(3'000'000));
    world.at(when, [&world, a = a, b = b] { world.feed(a, link_wanted{rank{b}}); });
    if (j.random.one_in(2)) {
      const auto other = j.random.one_in(2) ? when : when + duration(j.random.below(6'000'000));
      world.at(other, [&world, a = a, b = b] { world.feed(b, link_wanted{rank{a}}); });
    }
    if (rough && j.random.one_in(2)) {
      const auto breaks = when + duration(j.random.below(20'000'000));
      world.at(breaks, [&world, a = a, b = b] { world.break_link(a, rank{b}); });
      const auto again = breaks + duration(j.random.below(10'000'000));
      world.at(again, [&world, a = a, b = b] { world.feed(a, link_wanted{rank{b}}); });
    }
  }
  run_to_end(world, j);
  require_bounds(world, j);
  world.calm_down();
  for (const auto& [a, b] : pairs) {
    // Wanted once more, if it broke or was refused: in calm weather it comes, and whole.
    world.feed(a, link_wanted{rank{b}});
    run_to_end(world, j);
    if (!rough) REQUIRE_IN(j, world.process(a).unreachable.empty());
    require_one_link(world, j, a, b);
  }
  return world.trace_hash();
}

void want_once_joined(bootstrap_world& world, std::uint32_t r, rank peer) {
  const auto& p = world.process(r);
  if (p.joined_at != never) return world.feed(r, link_wanted{peer});
  if (!p.ended)
    world.at(world.now() + 20us, [&world, r, peer] { want_once_joined(world, r, peer); });
}

// The first to join dial the last, which have not joined yet.
std::uint64_t early_links(job j) {
  if (j.world_size < 2) return healthy(j);
  bootstrap_world world(j.seed, weather_of(j));
  add_ranks(world, j, 5ms);
  for (std::uint32_t r = 0; r < j.world_size; ++r)
    world.at(instant{},
             [&world, r, n = j.world_size] { want_once_joined(world, r, rank{(r + n / 2) % n}); });
  run_to_end(world, j);
  require_all_joined(world, j);
  for (std::uint32_t r = 0; r < j.world_size; ++r) {
    const auto peer = (r + j.world_size / 2) % j.world_size;
    REQUIRE_IN(j, world.process(r).unreachable.size() == (peer == r ? 1 : 0));
    if (peer != r) require_one_link(world, j, r, peer);
  }
  return world.trace_hash();
}

// Ranks that cannot have a link are told so, and why.
std::uint64_t impossible_links(job j) {
  if (j.world_size < 3) return healthy(j);
  bootstrap_world world(j.seed, weather_of(j));
  for (std::uint32_t r = 0; r < j.world_size; ++r) {
    auto o = options_of(j, r);
    if (r == 1) o.data_lane_count += 1;
    world.add_process(o, r, start_of(j, 5ms));
  }
  run_to_end(world, j);
  require_all_joined(world, j);
  const auto refusal = [&](std::uint32_t from, std::uint32_t to) {
    const auto before = world.process(from).unreachable.size();
    world.feed(from, link_wanted{rank{to}});
    run_to_end(world, j);
    REQUIRE_IN(j, world.process(from).unreachable.size() == before + 1);
    return world.process(from).unreachable.back();
  };
  world.feed(0, death_learned{rank{0}});
  world.feed(0, death_learned{rank{j.world_size}});
  REQUIRE_IN(j, world.process(0).deaths.empty());
  REQUIRE_IN(j, refusal(0, 0).cause.code == errc::bad_argument);
  REQUIRE_IN(j, refusal(0, j.world_size).cause.code == errc::bad_argument);
  const auto lanes = refusal(0, 1);
  REQUIRE_TEXT(j, lanes.cause.code == errc::membership_conflict, lanes.text);
  REQUIRE_TEXT(j, lanes.text.find("number of lanes") != std::string::npos, lanes.text);
  // The dialer stops with some of its lanes proved: the other side forgets them in time.
  world.feed(0, link_wanted{rank{2}});
  world.at(world.now() + duration(j.random.below(2'000'000)), [&] { world.stop(0); });
  run_to_end(world, j);
  for (const auto& [id, c] : world.process(2).state.connections)
    REQUIRE_IN(j, c.role != connection_role::link);
  return world.trace_hash();
}

// A ring connection breaks between two live ranks: each is dead for the other, and one of them at
// least for all.
std::uint64_t split_ring(job j) {
  if (j.world_size < 3) return healthy(j);
  bootstrap_world world(j.seed, weather_of(j));
  add_ranks(world, j, 5ms);
  run_to_end(world, j);
  require_all_joined(world, j);
  const auto left = static_cast<std::uint32_t>(j.random.below(j.world_size));
  const auto right = (left + 1) % j.world_size;
  const auto third = (left + 2) % j.world_size;
  world.at(world.now(), [&] { world.break_ring_after(left); });
  const auto wanted = world.now() + duration(j.random.below(20'000'000));
  world.at(wanted, [&] { world.feed(left, link_wanted{rank{third}}); });
  run_to_end(world, j);
  for (std::uint32_t r = 0; r < j.world_size; ++r) {
    const auto& heard = world.process(r).deaths;
    // Whose word comes first around the ring is a race; where it comes second, its sender is
    // already dead.
    const auto left_dead = std::count(heard.begin(), heard.end(), rank{left});
    const auto right_dead = std::count(heard.begin(), heard.end(), rank{right});
    REQUIRE_IN(j, left_dead <= 1 && right_dead <= 1 && left_dead + right_dead >= 1);
    REQUIRE_IN(j, std::count(heard.begin(), heard.end(), rank{r}) == 0);
  }
  const auto& reports = world.process(left).unreachable;
  for (const auto& report : reports)
    REQUIRE_IN(j, report.cause.code == errc::evicted || report.cause.code == errc::peer_lost);
  return world.trace_hash();
}

std::uint64_t unreachable_peers(job j) {
  if (j.world_size < 3) return healthy(j);
  bootstrap_world world(j.seed, weather_of(j));
  add_ranks(world, j, 5ms);
  run_to_end(world, j);
  require_all_joined(world, j);
  const auto caller = static_cast<std::uint32_t>(j.random.below(j.world_size));
  const auto peer = (caller + 1) % j.world_size;
  const bool silent = j.random.one_in(2);
  if (silent)
    world.stop(peer);
  else
    world.at(world.now(), [&] { world.process(peer).running = false; });  // refuses, ring intact
  const auto wanted = world.now();
  world.at(wanted + 1ms, [&] { world.feed(caller, link_wanted{rank{peer}}); });
  run_to_end(world, j);
  const auto& p = world.process(caller);
  REQUIRE_IN(j, p.unreachable.size() == 1);
  const auto& report = p.unreachable[0];
  REQUIRE_IN(j, report.peer.value == peer);
  REQUIRE_TEXT(j, report.text.find("phase link: rank " + std::to_string(peer) + " (") == 0,
               report.text);
  if (silent) {
    REQUIRE_TEXT(j, report.cause.code == errc::timed_out, report.text);
    REQUIRE_IN(j, p.unreachable_at[0] <= wanted + 1ms + j.timeout / 4 + 1ms);
  } else {
    REQUIRE_TEXT(j, report.cause.code == errc::unreachable, report.text);
    REQUIRE_IN(j, p.unreachable_at[0] <= wanted + 1s);
  }
  return world.trace_hash();
}

void leave_once_joined(bootstrap_world& world, std::uint32_t r) {
  const auto& p = world.process(r);
  if (p.joined_at != never) return world.leave(r);
  if (!p.ended) world.at(world.now() + 100us, [&world, r] { leave_once_joined(world, r); });
}

std::uint64_t leave_in_good_order(job j) {
  if (j.world_size < 2) return healthy(j);
  bootstrap_world world(j.seed, weather_of(j));
  add_ranks(world, j, 5ms);
  // Some leave as soon as they have joined: their successors still need their pages.
  const bool early = j.random.one_in(2);
  if (!early) run_to_end(world, j);
  for (std::uint32_t r = 0; r < j.world_size; ++r) {
    const auto wait = duration(j.random.below(early ? 1 : 1'000'000'000));
    world.at(world.now() + wait, [&world, r] { leave_once_joined(world, r); });
  }
  run_to_end(world, j);
  for (std::uint32_t r = 0; r < j.world_size; ++r) {
    const auto& p = world.process(r);
    REQUIRE_TEXT(j, p.joined_at != never, to_string(p.reason));
    REQUIRE_IN(j, p.deaths.empty());
    REQUIRE_IN(j, p.state.phase == bootstrap_phase::left);
    REQUIRE_IN(j, p.state.connections.empty());
  }
  return world.trace_hash();
}

// Bytes go wrong inside proved connections: nothing is promised but an end in time.
std::uint64_t corrupted(job j) {
  auto w = weather_of(j);
  w.corrupt_one_in = j.random.between(5, 60);
  bootstrap_world world(j.seed, w);
  add_ranks(world, j, 20ms);
  run_to_end(world, j);
  for (std::uint32_t r = 0; r < j.world_size; ++r) {
    const auto& p = world.process(r);
    REQUIRE_IN(j, (p.joined_at != never) != (p.failed_at != never));
    REQUIRE_IN(j, std::min(p.joined_at, p.failed_at) <= p.state.started + j.timeout);
  }
  return world.trace_hash();
}

std::uint64_t run_seed(std::uint64_t seed) {
  auto j = job_of(seed);
  switch (seed % 16) {
    case 0:
    case 1: return healthy(j);
    case 2: return late_twin(j);
    case 3: return wrong_secret(j);
    case 4: return duplicate_rank(j);
    case 5: return misfit_rank(j);
    case 6: return missing_ranks(j);
    case 7:
    case 8: return dies_or_hangs_while_joining(j);
    case 9: return deaths_after_joining(j);
    case 10: return links_on_demand(j);
    case 11: return unreachable_peers(j);
    case 12: return leave_in_good_order(j);
    case 13: return early_links(j);
    case 14: return j.random.one_in(2) ? impossible_links(j) : split_ring(j);
    default: return corrupted(j);
  }
}

std::uint64_t number_from(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace

BOOST_AUTO_TEST_CASE(ten_thousand_seeds_join_or_fail_precisely_and_in_time) {
  const auto first = number_from("TROUPE_SIM_SEED", 1);
  const auto count = number_from("TROUPE_SIM_SEED_COUNT", 10'000);
  for (auto seed = first; seed < first + count; ++seed)
    run_seed(seed);
}

BOOST_AUTO_TEST_CASE(the_same_seed_twice_gives_the_same_trace) {
  for (std::uint64_t seed = 1; seed <= 240; ++seed)
    BOOST_REQUIRE_EQUAL(run_seed(seed), run_seed(seed));
}

BOOST_AUTO_TEST_CASE(a_rank_that_leaves_waits_for_its_successor_a_second_at_most) {
  job j{.seed = 1, .world_size = 450, .timeout = 8s, .random = random_stream(1)};
  bootstrap_world world(j.seed, {});
  add_ranks(world, j, 0s);
  // Rank 45 begins a page; once it has sent that on, its predecessor needs nothing more of it.
  std::function<void()> watch = [&] {
    if (world.process(45).state.counters.pages_sent >= 1) return world.stop(45);
    world.at(world.now() + 10us, watch);
  };
  world.at(instant{}, watch);
  world.at(instant{} + 500ms, [&] { world.leave(44); });
  run_to_end(world, j);
  BOOST_TEST((world.process(44).joined_at != never));
  BOOST_TEST((world.process(44).state.phase == bootstrap_phase::left));
  BOOST_TEST(world.process(44).state.connections.empty());
}

BOOST_AUTO_TEST_CASE(every_rare_branch_was_visited) {
  for (const auto* m = mark::first(); m != nullptr; m = m->next())
    if (std::string_view(m->name()).starts_with("bootstrap:"))
      BOOST_TEST(m->hits() > 0, "mark never hit: " << m->name());
}
