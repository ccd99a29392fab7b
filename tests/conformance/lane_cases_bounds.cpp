// Cases about bounds and costs: depth, many lanes, announcements, allocation, waiting.

#include <poll.h>

#include <cstring>
#include <vector>

#include "tests/conformance/lane_cases.hpp"
#include "tests/conformance/lane_pair.hpp"

namespace troupe::conformance {

namespace {

using kind = lane_event::kind;

std::span<const std::byte> bytes_of(const std::uint64_t& value) {
  return std::as_bytes(std::span(&value, 1));
}

std::uint64_t value_of(const std::vector<std::byte>& message) {
  std::uint64_t value = ~0ull;
  if (message.size() >= sizeof value) std::memcpy(&value, message.data(), sizeof value);
  return value;
}

}  // namespace

std::string a_lane_takes_depth_writes_and_then_is_full(lane_world& world) {
  lane_pair pair(world, 1 << 20);
  if (!pair.connect()) return "no lane";
  const auto depth = pair.at(0).depth();
  if (depth == 0) return "a depth of 0";
  std::uint32_t posted = 0;
  for (int round = 0; round < 3; ++round) {
    // Nothing is polled meanwhile, so nothing can complete.
    for (std::uint32_t i = 0; i < depth; ++i, ++posted)
      if (pair.at(0).post_write(pair.write(0, 0, 4096, posted, posted)) != post_status::accepted)
        return "full after " + std::to_string(i) + " of " + std::to_string(depth) + " writes";
    for (int i = 0; i < 3; ++i)
      if (pair.at(0).post_write(pair.write(0, 0, 4096, 0xbad)) != post_status::full)
        return "more than " + std::to_string(depth) + " writes were taken";
    if (!pair.wait_until([&] { return pair.total(0, kind::write_completed) >= posted; }))
      return "a write did not complete";
  }
  if (!pair.wait_until([&] { return pair.total(1, kind::write_arrived) >= posted; }))
    return "a write that was taken did not arrive";
  pair.be_quiet();
  if (pair.log(1).size() != posted) return "a write that was refused arrived";
  for (std::uint32_t i = 0; i < posted; ++i)
    if (pair.log(1)[i].immediate != i) return "a wrong write arrived";
  return "";
}

std::string messages_beyond_the_bound_are_refused_and_none_is_lost(lane_world& world) {
  // Chosen: far more than any socket buffer holds.
  constexpr std::uint64_t message_count_max = 200'000;
  lane_pair pair(world);
  if (!pair.connect()) return "no lane";
  pair.sleeps[1] = true;
  std::vector<std::byte> message(lane_message_bytes_max);
  std::uint64_t posted = 0;
  const auto post = [&] {
    std::memcpy(message.data(), &posted, sizeof posted);
    const auto status = pair.at(0).post_message(message);
    if (status == post_status::accepted) ++posted;
    return status;
  };
  while (posted < message_count_max) {
    if (post() == post_status::accepted) continue;
    // The network may still take some; a lane is full when it stays so.
    pair.be_quiet();
    if (post() == post_status::full) break;
  }
  if (posted == message_count_max) return "it was never full";
  if (posted < pair.at(0).depth()) return "full after " + std::to_string(posted) + " messages";
  pair.sleeps[1] = false;
  if (!pair.wait_until([&] { return pair.log(1).size() >= posted; }))
    return "only " + std::to_string(pair.log(1).size()) + " of " + std::to_string(posted) +
           " arrived";
  if (!pair.wait_until([&] { return post() == post_status::accepted; }))
    return "it stayed full after its peer took everything";
  if (!pair.wait_until([&] { return pair.log(1).size() >= posted; })) return "the last is missing";
  pair.be_quiet();
  if (pair.log(1).size() != posted) return "more arrived than was taken";
  for (std::uint64_t i = 0; i < posted; ++i)
    if (value_of(pair.log(1)[i].message) != i) return "message " + std::to_string(i) + " is wrong";
  return "";
}

std::string many_lanes_do_not_mix(lane_world& world) {
  constexpr std::size_t lane_count = 64;
  constexpr std::uint64_t slot_bytes = 2000;
  lane_pair pair(world, lane_count * slot_bytes);
  if (!pair.connect(lane_count)) return "no lanes";
  for (std::uint64_t round = 0; round < 5; ++round) {
    for (std::uint64_t i = 0; i < lane_count; ++i) {
      pair.fill_source(0, i + round, i * slot_bytes, slot_bytes);
      const auto immediate = static_cast<std::uint32_t>(1000 * round + i);
      if (pair.at(0, i).post_write(pair.write(0, i * slot_bytes, slot_bytes, immediate, i)) !=
              post_status::accepted ||
          pair.at(0, i).post_message(bytes_of(i)) != post_status::accepted ||
          pair.at(1, i).post_message(bytes_of(i)) != post_status::accepted)
        return "not taken";
    }
    const auto expected = (round + 1) * lane_count;
    const bool all = pair.wait_until([&] {
      return pair.total(1, kind::write_arrived) >= expected &&
             pair.total(1, kind::message_arrived) >= expected &&
             pair.total(0, kind::message_arrived) >= expected &&
             pair.total(0, kind::write_completed) >= expected;
    });
    if (!all) return "not all arrived";
    for (std::uint64_t i = 0; i < lane_count; ++i)
      if (!pair.target_holds(1, i + round, i * slot_bytes, slot_bytes)) return "wrong bytes";
  }
  for (std::uint64_t i = 0; i < lane_count; ++i) {
    const auto& log = pair.log(1, i);
    if (log.size() != 10 || pair.count(0, kind::message_arrived, i) != 5)
      return "lane " + std::to_string(i) + " has events of another";
    for (const auto& event : pair.log(0, i))
      if (event.what == kind::write_completed ? event.context != i : value_of(event.message) != i)
        return "lane " + std::to_string(i) + " has events of another";
    for (std::uint64_t round = 0; round < 5; ++round)
      if (log[2 * round].immediate != 1000 * round + i || value_of(log[2 * round + 1].message) != i)
        return "lane " + std::to_string(i) + " has contents of another";
  }
  return "";
}

std::string a_lane_polled_one_event_at_a_time_says_everything(lane_world& world) {
  lane_pair pair(world);
  if (!pair.connect()) return "no lane";
  pair.polls_one_event_per_announcement = true;
  pair.sleeps[1] = true;
  for (std::uint64_t i = 0; i < 20; ++i)
    if (pair.at(0).post_message(bytes_of(i)) != post_status::accepted ||
        pair.at(0).post_write(pair.write(0, 0, 100, 1, i)) != post_status::accepted)
      return "not taken";
  pair.be_quiet();
  pair.sleeps[1] = false;
  if (!pair.wait_until([&] { return pair.log(1).size() == 40 && pair.log(0).size() == 20; }))
    return "it was not announced again though it had more to say";
  return "";
}

std::string a_busy_lane_allocates_nothing(lane_world& world) {
  constexpr std::uint64_t bytes = 64 * 1024;
  lane_pair pair(world);
  if (!pair.connect()) return "no lane";
  pair.remembers = false;
  const auto round = [&](std::uint32_t number) {
    const auto expected = [&](kind what) {
      return pair.total(1, what) + (number % 8 == 7 ? 8 : 0);
    };
    const auto writes = expected(kind::write_arrived);
    for (std::uint32_t i = 0; i < 8; ++i) {
      if (pair.at(0).post_write(pair.write(0, 0, bytes >> i, number)) != post_status::accepted)
        return false;
      if (pair.at(0).post_message(bytes_of(writes)) != post_status::accepted) return false;
    }
    while (pair.total(0, kind::write_completed) < 8ull * (number + 1) ||
           pair.total(1, kind::message_arrived) < 8ull * (number + 1)) {
      if (pair.pump()) continue;
      world.wait(saturating_add(world.now(), world.patience()));
    }
    return true;
  };
  constexpr std::uint32_t warm_up_count = 200;
  constexpr std::uint32_t round_count = 400;
  for (std::uint32_t i = 0; i < warm_up_count; ++i)
    if (!round(i)) return "not taken";
  const auto before = allocation_count();
  for (std::uint32_t i = warm_up_count; i < round_count; ++i)
    if (!round(i)) return "not taken";
  const auto made = allocation_count() - before;
  return made == 0 ? "" : std::to_string(made) + " allocations in 3200 frames";
}

std::string the_descriptor_to_wait_for_tells_when_to_poll(lane_world& world) {
  lane_pair pair(world);
  if (!pair.connect()) return "no lane";
  const int descriptor = world.network(1).wait_descriptor();
  if (descriptor < 0) return world.kind() == lane_kind::fabric ? "" : "there is none";
  const auto is_readable = [&](int milliseconds) {
    pollfd entry{descriptor, POLLIN, 0};
    return ::poll(&entry, 1, milliseconds) == 1;
  };
  for (std::uint64_t i = 0; i < 3; ++i) {
    pair.be_quiet();
    if (is_readable(0)) return "it is readable though nothing is to be done";
    if (world.network(1).prepare_to_wait() <= world.now()) return "a deadline passed in silence";
    if (pair.at(0).post_message(bytes_of(i)) != post_status::accepted) return "not taken";
    if (!is_readable(1000)) return "it does not tell that a message came";
    if (!pair.wait_until([&] { return pair.log(1).size() == i + 1; })) return "no message";
  }
  world.network(1).prepare_to_wait();
  world.network(0).dial(world.network(1).address(), 7, world.now() + world.patience());
  return is_readable(1000) ? "" : "it does not tell that a peer dialled";
}

}  // namespace troupe::conformance
