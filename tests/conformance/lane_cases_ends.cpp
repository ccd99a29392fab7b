// Cases about ends: dead keys, lost and closed lanes, dials that fail.

#include <algorithm>
#include <array>
#include <vector>

#include "tests/conformance/lane_cases.hpp"
#include "tests/conformance/lane_pair.hpp"

namespace troupe::conformance {

namespace {

using kind = lane_event::kind;

// Posts writes that are to be refused between two that are not, and checks what came of them.
std::string expect_refused(lane_pair& pair, const std::vector<lane_write>& refused) {
  std::uint32_t posted = 0;
  const auto post = [&](const lane_write& write) {
    ++posted;
    return pair.at(0).post_write(write) == post_status::accepted;
  };
  pair.fill_source(0, 1, 0, 100);
  if (!post(pair.write(0, 0, 100, 100))) return "not taken";
  for (const auto& write : refused)
    if (!post(write)) return "not taken";
  if (!post(pair.write(0, 0, 100, 200))) return "not taken";
  if (!pair.wait_until([&] { return pair.log(1).size() >= posted; }))
    return "only " + std::to_string(pair.log(1).size()) + " of " + std::to_string(posted) +
           " events came";
  if (!pair.wait_until([&] { return pair.total(0, kind::write_completed) >= posted; }))
    return "a refused write did not complete";
  pair.be_quiet();
  const auto& log = pair.log(1);
  if (log.size() != posted) return "more events than writes";
  if (log.front().what != kind::write_arrived || log.back().what != kind::write_arrived)
    return "a good write did not arrive";
  for (std::size_t i = 0; i < refused.size(); ++i) {
    const auto& event = log[i + 1];
    if (event.what != kind::write_refused) return "write " + std::to_string(i) + " is not refused";
    if (event.immediate != refused[i].immediate || event.bytes != refused[i].source.bytes)
      return "the refusal of write " + std::to_string(i) + " has another immediate or length";
  }
  if (!pair.target_holds(1, 1, 0, 100)) return "wrong bytes of the good writes";
  return pair.target_untouched(1, 100, pair.target(1).size() - 100) ? "" : "a refused write wrote";
}

// The lane at `side` ends: its end is polled once, with a cause, and nothing after it.
std::string expect_lost_once(lane_pair& pair, int side) {
  if (!pair.wait_until([&] { return pair.total(side, kind::lane_lost) >= 1; }))
    return "the other end did not hear of it";
  if (pair.at(side).post_message({}) != post_status::lost) return "a lost lane took a message";
  if (pair.at(side).post_write(pair.write(side, 0, 10, 1)) != post_status::lost)
    return "a lost lane took a write";
  pair.be_quiet();
  pair.poll_dry(side, 0);
  if (pair.total(side, kind::lane_lost) != 1) return "it was lost more than once";
  const auto& last = pair.log(side).back();
  if (last.what != kind::lane_lost) return "something came after the end";
  return last.cause.code == errc::ok ? "it was lost without a cause" : "";
}

}  // namespace

std::string a_write_to_a_dead_key_is_refused_and_writes_nothing(lane_world& world) {
  lane_pair pair(world);
  if (!pair.connect()) return "no lane";
  auto never_given = pair.write(0, 0, 5000, 1);
  never_given.target.key = 0;
  auto unknown = pair.write(0, 0, 70'000, 2);
  unknown.target.key = 0xdead'beef'0000'0007;
  auto withdrawn = pair.write(0, 200, 100'000, 3);
  const auto view = world.buffers(1).add(pair.target(1).data(), pair.target(1).size());
  withdrawn.target.key = *world.buffers(1).expose(*view);
  world.buffers(1).withdraw(withdrawn.target.key);
  world.buffers(1).release(view->id);
  auto empty = pair.write(0, 0, 0, 4);
  empty.target.key = withdrawn.target.key;
  return expect_refused(pair, {never_given, unknown, withdrawn, empty});
}

std::string a_write_that_leaves_its_target_is_refused_and_writes_nothing(lane_world& world) {
  lane_pair pair(world);
  if (!pair.connect()) return "no lane";
  const auto size = pair.target(1).size();
  auto over_the_end = pair.write(0, 0, 60'000, 1);
  over_the_end.target.offset = size - 59'999;
  auto beyond = pair.write(0, 0, 1, 2);
  beyond.target.offset = size;
  auto wrapping = pair.write(0, 0, 200, 3);
  wrapping.target.offset = ~0ull - 99;
  return expect_refused(pair, {over_the_end, beyond, wrapping});
}

std::string a_key_withdrawn_in_mid_write_stops_the_write(lane_world& world) {
  const auto bytes = world.large_bytes();
  lane_pair pair(world, bytes);
  if (!pair.connect()) return "no lane";
  if (pair.at(0).post_write(pair.write(0, 0, bytes, 5)) != post_status::accepted)
    return "not taken";
  const auto landed = [&] { return pair.target(1)[0] != lane_pair::untouched; };
  // A lane may place all bytes at one moment: then there is no middle, and the key dies before.
  for (int i = 0; i < 1000 && !landed() && world.kind() != lane_kind::fabric; ++i) {
    if (!pair.pump()) world.wait(world.now() + world.quiet());
  }
  if (pair.total(1, kind::write_arrived) != 0) return "";
  pair.withdraw(1);
  const auto at_withdrawal = pair.target(1);
  if (world.loses_lane_with_key() && pair.total(0, kind::write_completed) == 0) {
    const auto verdict = expect_lost_once(pair, 0);
    if (!verdict.empty()) return verdict;
    if (pair.total(1, kind::write_arrived) != 0) return "it arrived";
    if (pair.target(1) != at_withdrawal) return "bytes were written after the key was withdrawn";
    return pair.connect() ? "" : "no other lane can be had";
  }
  if (!pair.wait_until([&] { return pair.total(0, kind::write_completed) == 1; }))
    return "it did not complete";
  if (!pair.wait_until([&] { return !pair.log(1).empty(); })) return "no event came";
  pair.be_quiet();
  const auto& event = pair.log(1)[0];
  if (event.what != kind::write_refused || event.immediate != 5 || event.bytes != bytes)
    return "it was not refused";
  if (pair.target(1) != at_withdrawal) return "bytes were written after the key was withdrawn";
  const std::byte note{1};
  if (pair.at(0).post_message({&note, 1}) != post_status::accepted) return "message not taken";
  return pair.wait_until([&] { return pair.log(1).size() == 2; }) ? "" : "the lane stands still";
}

std::string a_zombies_write_under_an_old_key_lands_nowhere(lane_world& world) {
  lane_pair pair(world);
  if (!pair.connect()) return "no lane";
  const auto view = world.buffers(1).add(pair.target(1).data(), pair.target(1).size());
  const auto old_key = *world.buffers(1).expose(*view);
  const auto post_under = [&](std::uint64_t key, std::size_t lane, std::uint64_t bytes) {
    auto write = pair.write(0, 0, bytes, 1);
    write.target.key = key;
    return pair.at(0, lane).post_write(write);
  };
  // The sender knows the key, and all that its kind of lane has to know of the memory.
  if (post_under(old_key, 0, 5000) != post_status::accepted) return "not taken";
  if (!pair.wait_until([&] { return pair.total(0, kind::write_completed) == 1; }) ||
      !pair.wait_until([&] { return pair.total(1, kind::write_arrived) == 1; }))
    return "the first write did not arrive";

  // While it is away the memory gets another use.
  pair.sleeps[0] = true;
  world.buffers(1).withdraw(old_key);
  std::fill(pair.target(1).begin(), pair.target(1).end(), lane_pair::untouched);
  const auto key = *world.buffers(1).expose(*view);
  pair.be_quiet();
  pair.sleeps[0] = false;
  constexpr std::array<std::uint64_t, 3> lengths{8, 5000, 100'000};
  for (const auto bytes : lengths)
    if (post_under(old_key, 0, bytes) == post_status::full) return "not taken";
  const bool over = pair.wait_until([&] {
    return pair.total(1, kind::write_refused) == lengths.size() ||
           (world.loses_lane_with_key() && pair.total(0, kind::lane_lost) == 1);
  });
  pair.be_quiet();
  if (!pair.target_untouched(1, 0, pair.target(1).size())) return "it wrote";
  if (!over) return "its writes are neither refused nor lost";
  if (pair.total(1, kind::write_arrived) != 1) return "it was shown as arrived";

  // The new use of the memory goes on.
  if (!pair.connect()) return "no other lane can be had";
  if (post_under(key, 1, 5000) != post_status::accepted) return "not taken";
  const bool arrived = pair.wait_until([&] { return pair.total(1, kind::write_arrived) == 2; });
  const bool whole = pair.target_holds(1, 0, 0, 5000);
  world.buffers(1).withdraw(key);
  world.buffers(1).release(view->id);
  return arrived && whole ? "" : "a write under the new key did not arrive";
}

std::string a_peer_that_closes_in_mid_write_loses_the_lane_once(lane_world& world) {
  const auto bytes = world.large_bytes();
  lane_pair pair(world, bytes);
  if (!pair.connect()) return "no lane";
  for (std::uint32_t i = 0; i < 3; ++i)
    if (pair.at(0).post_write(pair.write(0, 0, bytes, i)) != post_status::accepted)
      return "not taken";
  pair.pump();
  pair.at(1).close();
  return expect_lost_once(pair, 0);
}

std::string a_sender_that_closes_in_mid_write_loses_the_lane_once(lane_world& world) {
  const auto bytes = world.large_bytes();
  lane_pair pair(world, bytes);
  if (!pair.connect()) return "no lane";
  for (std::uint32_t i = 0; i < 3; ++i)
    if (pair.at(0).post_write(pair.write(0, 0, bytes, i)) != post_status::accepted)
      return "not taken";
  pair.pump();
  pair.at(0).close();
  // From here on nothing may be read from the source.
  world.buffers(0).release(pair.write(0, 0, 0, 0).source.id);
  const auto verdict = expect_lost_once(pair, 1);
  pair.restore_source(0);
  if (!verdict.empty()) return verdict;
  return pair.count(1, kind::write_arrived) < 3 ? "" : "what was not sent arrived";
}

std::string a_closed_lane_is_silent_and_its_memory_is_left_alone(lane_world& world) {
  lane_pair pair(world);
  if (!pair.connect(2)) return "no lanes";
  const std::byte note{1};
  for (std::uint32_t i = 0; i < 8; ++i)
    for (int side = 0; side < 2; ++side)
      if (pair.at(side).post_write(pair.write(side, 0, 20'000, i)) != post_status::accepted ||
          pair.at(side).post_message({&note, 1}) != post_status::accepted)
        return "not taken";
  pair.at(1).close();
  pair.at(1).close();
  const auto events = pair.log(1).size();
  const auto at_close = pair.target(1);
  pair.be_quiet();
  pair.poll_dry(1, 0);
  pair.at(1).close();
  if (pair.log(1).size() != events) return "an event followed close";
  if (pair.target(1) != at_close) return "memory was written after close";
  if (pair.at(1).post_message({&note, 1}) != post_status::lost)
    return "a closed lane took a message";
  // The other lane of the same endpoints lives.
  if (pair.at(0, 1).post_message({&note, 1}) != post_status::accepted) return "not taken";
  return pair.wait_until([&] { return !pair.log(1, 1).empty(); }) ? "" : "another lane died too";
}

std::string messages_posted_before_close_arrive(lane_world& world) {
  constexpr std::size_t message_count = 50;
  lane_pair pair(world);
  for (std::size_t lane = 0; lane < 3; ++lane) {
    if (!pair.connect()) return "no lane";
    std::vector<std::byte> message(lane_message_bytes_max);
    // Bytes that nobody reads must not turn the end into one that eats what was sent.
    if (pair.at(1, lane).post_message(message) != post_status::accepted) return "not taken";
    for (std::size_t i = 0; i < message_count; ++i) {
      message[0] = static_cast<std::byte>(i);
      if (pair.at(0, lane).post_message(message) != post_status::accepted) return "not taken";
    }
    if (lane == 2)
      pair.destroy(0, lane);
    else
      pair.at(0, lane).close();
    if (!pair.wait_until([&] { return pair.count(1, kind::lane_lost, lane) == 1; }))
      return "the other end did not hear of the end";
    if (pair.count(1, kind::message_arrived, lane) != message_count)
      return std::to_string(pair.count(1, kind::message_arrived, lane)) + " of " +
             std::to_string(message_count) + " messages arrived before the end";
  }
  return "";
}

std::string a_dial_to_nobody_is_refused(lane_world& world) {
  lane_pair pair(world);
  const auto start = world.now();
  world.network(0).dial(world.nobody(), 41, start + world.patience());
  if (!pair.wait_until([&] { return !pair.dial_events().empty(); })) return "nothing was said";
  const auto& event = pair.dial_events()[0];
  if (event.what != network_event::kind::dial_failed) return "it did not fail";
  if (event.context != 41) return "wrong context";
  if (event.cause.code != errc::unreachable) return "wrong cause";
  if (world.now() - start > world.patience() / 4) return "it took until the deadline";
  pair.be_quiet();
  return pair.dial_events().size() == 1 ? "" : "it was said twice";
}

std::string a_dial_into_silence_ends_at_its_deadline(lane_world& world) {
  lane_pair pair(world);
  const auto silence = world.silence();
  const auto deadline = world.now() + std::chrono::milliseconds(120);
  world.network(0).dial(silence, 42, deadline);
  if (world.network(0).next_deadline() > deadline) return "next_deadline is later than the dial's";
  if (!pair.wait_until([&] { return !pair.dial_events().empty(); })) return "it never ended";
  if (world.now() < deadline) return "it ended before its deadline";
  if (world.now() > deadline + world.patience() / 4) return "it ended late";
  const auto& event = pair.dial_events()[0];
  if (event.what != network_event::kind::dial_failed || event.context != 42) return "wrong event";
  if (event.cause.code != errc::timed_out) return "wrong cause";
  pair.be_quiet();
  return pair.dial_events().size() == 1 ? "" : "it was said twice";
}

std::string a_cancelled_dial_says_nothing(lane_world& world) {
  lane_pair pair(world);
  auto& network = world.network(0);
  network.dial(world.silence(), 1, world.now() + std::chrono::milliseconds(30));
  network.cancel_dial(1);
  network.dial(world.nobody(), 2, world.now() + std::chrono::milliseconds(30));
  network.cancel_dial(2);
  network.dial(world.network(1).address(), 3, world.now() + world.patience());
  network.cancel_dial(3);
  // Cancelled after the peer took it, before we were told.
  network.dial(world.network(1).address(), 4, world.now() + world.patience());
  pair.sleeps[0] = true;
  pair.be_quiet();
  network.cancel_dial(4);
  pair.sleeps[0] = false;
  pair.be_quiet();
  if (!pair.dial_events().empty()) return "a cancelled dial was reported";
  for (std::size_t i = 0; i < pair.accepted(); ++i)
    if (!pair.wait_until([&] { return pair.count(1, kind::lane_lost, i) == 1; }))
      return "the peer keeps a lane of a cancelled dial";
  network.cancel_dial(99);
  return pair.connect() ? "" : "no dial works any more";
}

}  // namespace troupe::conformance
