#include <algorithm>
#include <string>

#include "tests/sim/net/bootstrap_scenarios.hpp"

namespace troupe::sim {

using namespace troupe::net;
using namespace std::chrono_literals;

namespace {

void want_once_joined(bootstrap_world& world, std::uint32_t r, rank peer) {
  const auto& p = world.process(r);
  if (p.joined_at != never) return world.feed(r, link_wanted{peer});
  if (!p.ended)
    world.at(world.now() + 20us, [&world, r, peer] { want_once_joined(world, r, peer); });
}

void leave_once_joined(bootstrap_world& world, std::uint32_t r) {
  const auto& p = world.process(r);
  if (p.joined_at != never) return world.leave(r);
  if (!p.ended) world.at(world.now() + 100us, [&world, r] { leave_once_joined(world, r); });
}

}  // namespace

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

std::uint64_t lanes_rebuilt(job j) {
  if (j.world_size < 2) return healthy(j);
  bootstrap_world world(j.seed, weather_of(j));
  add_ranks(world, j, 5ms);
  run_to_end(world, j);
  require_all_joined(world, j);
  world.keep_links();
  const auto a = static_cast<std::uint32_t>(j.random.below(j.world_size));
  const auto b =
      static_cast<std::uint32_t>((a + 1 + j.random.below(j.world_size - 1)) % j.world_size);
  world.feed(a, lane_wanted{rank{b}, 0});
  world.feed(a, link_wanted{rank{b}});
  run_to_end(world, j);
  require_one_link(world, j, a, b);
  for (std::uint64_t i = j.random.between(1, 8); i > 0; --i) {
    const auto when =
        world.now() + duration(j.random.below(j.random.one_in(2) ? 40'000'000 : 3'000'000'000));
    const auto who = j.random.one_in(2) ? a : b;
    const auto other = who == a ? b : a;
    world.at(when, [&world, who, other] { world.break_lane(who, rank{other}); });
    // One side lets the link go while the other may be making a lane of it.
    if (j.random.one_in(8))
      world.at(when + duration(j.random.below(15'000'000)),
               [&world, who, other] { world.end_link(who, rank{other}); });
  }
  run_to_end(world, j);
  world.feed(a, link_wanted{rank{b}});
  run_to_end(world, j);
  require_one_link(world, j, a, b);
  require_bounds(world, j);
  return world.trace_hash();
}

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

}  // namespace troupe::sim
