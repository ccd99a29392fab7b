#include <algorithm>
#include <string>

#include "tests/sim/net/bootstrap_scenarios.hpp"

namespace troupe::sim {

using namespace troupe::net;
using namespace std::chrono_literals;

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
    if (r == odd && kind == 3) o.protocol_version = 3;
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
        return f.code() == errc::version_mismatch && says(f, "version 3") && says(f, "version 2");
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

}  // namespace troupe::sim
