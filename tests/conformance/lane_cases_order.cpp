// Cases about what arrives: order, contents, completions.

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <vector>

#include "runtime/random.hpp"
#include "tests/conformance/lane_cases.hpp"
#include "tests/conformance/lane_pair.hpp"

namespace troupe::conformance {

namespace {

using kind = lane_event::kind;

std::vector<std::byte> text_of(std::uint64_t text, std::size_t bytes) {
  std::vector<std::byte> out(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    out[i] = pattern(text, i);
  return out;
}

bool post_and_pump(lane_pair& pair, const std::function<post_status()>& post) {
  return pair.wait_until([&] { return post() == post_status::accepted; });
}

}  // namespace

std::string frames_of_both_kinds_arrive_in_the_order_posted(lane_world& world) {
  constexpr std::uint32_t frame_count = 300;
  constexpr std::uint64_t slot_bytes = 6000;
  constexpr std::uint64_t memory = frame_count * slot_bytes;
  lane_pair pair(world, memory);
  if (!pair.connect()) return "no lane";
  random_stream draw(7);
  std::vector<std::uint64_t> lengths;
  std::vector<bool> is_write;
  for (std::uint32_t i = 0; i < frame_count; ++i) {
    is_write.push_back(draw.one_in(2));
    lengths.push_back(is_write[i] ? draw.between(1, slot_bytes)
                                  : draw.between(1, lane_message_bytes_max));
    bool posted = false;
    if (is_write[i]) {
      pair.fill_source(0, i, i * slot_bytes, lengths[i]);
      posted = post_and_pump(pair, [&] {
        return pair.at(0).post_write(pair.write(0, i * slot_bytes, lengths[i], i, i));
      });
    } else {
      const auto message = text_of(i, lengths[i]);
      posted = post_and_pump(pair, [&] { return pair.at(0).post_message(message); });
    }
    if (!posted) return "frame " + std::to_string(i) + " was not taken";
  }
  if (!pair.wait_until([&] { return pair.log(1).size() >= frame_count; }))
    return "only " + std::to_string(pair.log(1).size()) + " frames arrived";
  pair.be_quiet();
  if (pair.log(1).size() != frame_count) return "more arrived than was posted";
  for (std::uint32_t i = 0; i < frame_count; ++i) {
    const auto& seen = pair.log(1)[i];
    const auto place = " at place " + std::to_string(i);
    if ((seen.what == kind::write_arrived) != is_write[i]) return "wrong kind" + place;
    if (seen.bytes != lengths[i]) return "wrong length" + place;
    if (is_write[i] && seen.immediate != i) return "wrong immediate" + place;
    if (is_write[i] && !pair.target_holds(1, i, i * slot_bytes, lengths[i]))
      return "wrong bytes" + place;
    if (!is_write[i] && seen.message != text_of(i, lengths[i])) return "wrong message" + place;
  }
  return "";
}

std::string an_immediate_comes_after_its_bytes_are_in_place(lane_world& world) {
  constexpr std::uint64_t bytes = 50'000;
  lane_pair pair(world);
  if (!pair.connect()) return "no lane";
  std::string wrong;
  pair.observer = [&](int side, std::size_t, const lane_event& event) {
    if (side != 1 || event.what != kind::write_arrived) return;
    if (!pair.target_holds(1, event.immediate, 0, bytes))
      wrong = "the bytes of write " + std::to_string(event.immediate) + " were not there";
  };
  for (std::uint32_t i = 1; i <= 20; ++i) {
    pair.fill_source(0, i, 0, bytes);
    if (pair.at(0).post_write(pair.write(0, 0, bytes, i)) != post_status::accepted)
      return "not taken";
    if (!pair.wait_until([&] { return pair.total(1, kind::write_arrived) >= i; }))
      return "write " + std::to_string(i) + " did not arrive";
    if (!pair.wait_until([&] { return pair.total(0, kind::write_completed) >= i; }))
      return "write " + std::to_string(i) + " did not complete";
  }
  return wrong;
}

std::string every_bit_of_an_immediate_passes(lane_world& world) {
  lane_pair pair(world);
  if (!pair.connect()) return "no lane";
  std::vector<std::uint32_t> immediates{0, 0xffff'ffff, 0x00ff'ffff, 0x0100'0000, 0x7fff'ffff};
  for (unsigned bit = 0; bit < 32; ++bit) {
    immediates.push_back(1u << bit);
    immediates.push_back(~(1u << bit));
  }
  for (const auto immediate : immediates)
    if (!post_and_pump(pair, [&] { return pair.at(0).post_write(pair.write(0, 0, 8, immediate)); }))
      return "not taken";
  if (!pair.wait_until([&] { return pair.log(1).size() >= immediates.size(); }))
    return "a write did not arrive";
  for (std::size_t i = 0; i < immediates.size(); ++i) {
    if (pair.log(1)[i].immediate == immediates[i]) continue;
    char text[80];
    std::snprintf(text, sizeof text, "immediate %08x came as %08x", immediates[i],
                  pair.log(1)[i].immediate);
    return text;
  }
  return "";
}

std::string every_write_completes_once_with_its_context(lane_world& world) {
  constexpr std::uint64_t write_count = 200;
  lane_pair pair(world);
  if (!pair.connect()) return "no lane";
  std::vector<int> completed(write_count);
  bool unknown = false;
  pair.observer = [&](int side, std::size_t, const lane_event& event) {
    if (side != 0 || event.what != kind::write_completed) return;
    const auto context = event.context ^ 0xa5a5'0000'0000'0000u;
    if (context < write_count)
      ++completed[context];
    else
      unknown = true;
  };
  for (std::uint64_t i = 0; i < write_count; ++i) {
    const auto write = pair.write(0, 0, i * 7, 0, i ^ 0xa5a5'0000'0000'0000u);
    if (!post_and_pump(pair, [&] { return pair.at(0).post_write(write); })) return "not taken";
  }
  const auto done = [&] { return pair.total(0, kind::write_completed) >= write_count; };
  if (!pair.wait_until(done)) return "a write did not complete";
  pair.be_quiet();
  if (unknown) return "a completion has a context that nobody gave";
  for (std::uint64_t i = 0; i < write_count; ++i)
    if (completed[i] != 1)
      return "write " + std::to_string(i) + " completed " + std::to_string(completed[i]) + " times";
  return "";
}

std::string a_source_may_change_once_its_write_completed(lane_world& world) {
  constexpr std::uint64_t bytes = 3 * 1024 * 1024;
  constexpr std::uint64_t write_count = 4;
  lane_pair pair(world, write_count * bytes);
  if (!pair.connect()) return "no lane";
  pair.observer = [&](int side, std::size_t, const lane_event& event) {
    if (side != 0 || event.what != kind::write_completed) return;
    pair.fill_source(0, 99, event.context * bytes, bytes);
  };
  for (std::uint32_t i = 0; i < write_count; ++i) {
    pair.fill_source(0, i, i * bytes, bytes);
    if (pair.at(0).post_write(pair.write(0, i * bytes, bytes, i, i)) != post_status::accepted)
      return "not taken";
  }
  if (!pair.wait_until([&] { return pair.total(1, kind::write_arrived) == write_count; }))
    return "a write did not arrive";
  for (std::uint32_t i = 0; i < write_count; ++i)
    if (!pair.target_holds(1, i, i * bytes, bytes))
      return "write " + std::to_string(i) + " was read after it completed";
  return "";
}

std::string empty_writes_and_messages_arrive(lane_world& world) {
  lane_pair pair(world);
  if (!pair.connect()) return "no lane";
  for (std::uint32_t i = 0; i < 10; ++i) {
    if (pair.at(0).post_write(pair.write(0, 5, 0, i, i)) != post_status::accepted)
      return "write not taken";
    if (pair.at(0).post_message({}) != post_status::accepted) return "message not taken";
  }
  if (!pair.wait_until([&] { return pair.log(1).size() >= 20; }))
    return "only " + std::to_string(pair.log(1).size()) + " of 20 arrived";
  if (!pair.wait_until([&] { return pair.total(0, kind::write_completed) >= 10; }))
    return "an empty write did not complete";
  for (std::uint32_t i = 0; i < 10; ++i) {
    const auto& write = pair.log(1)[2 * i];
    const auto& message = pair.log(1)[2 * i + 1];
    if (write.what != kind::write_arrived || write.immediate != i || write.bytes != 0)
      return "an empty write came as something else";
    if (message.what != kind::message_arrived || !message.message.empty())
      return "an empty message came as something else";
  }
  return pair.target_untouched(1, 0, pair.target(1).size()) ? "" : "an empty write wrote";
}

std::string messages_of_every_length_arrive_unchanged(lane_world& world) {
  lane_pair pair(world);
  if (!pair.connect()) return "no lane";
  for (std::size_t bytes = 1; bytes <= lane_message_bytes_max; ++bytes) {
    auto message = text_of(bytes, bytes);
    if (!post_and_pump(pair, [&] { return pair.at(0).post_message(message); })) return "not taken";
    // Posting copies: what the caller does to its message afterwards must not matter.
    std::fill(message.begin(), message.end(), std::byte{0});
  }
  if (!pair.wait_until([&] { return pair.log(1).size() >= lane_message_bytes_max; }))
    return "only " + std::to_string(pair.log(1).size()) + " messages arrived";
  for (std::size_t bytes = 1; bytes <= lane_message_bytes_max; ++bytes)
    if (pair.log(1)[bytes - 1].message != text_of(bytes, bytes))
      return "the message of " + std::to_string(bytes) + " bytes changed on its way";
  return "";
}

std::string a_message_beyond_the_longest_ends_the_process(lane_world& world) {
  lane_pair pair(world);
  if (!pair.connect()) return "no lane";
  const auto message = text_of(1, lane_message_bytes_max + 1);
  const auto child = ::fork();
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);
    std::freopen("/dev/null", "w", stderr);
    pair.at(0).post_message(message);
    ::_exit(0);
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) return "no child process";
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT ? "" : "it was taken";
}

std::string a_large_write_arrives_whole(lane_world& world) {
  const auto bytes = world.large_bytes();
  lane_pair pair(world, bytes);
  if (!pair.connect()) return "no lane";
  pair.fill_source(0, 3, 0, bytes);
  if (pair.at(0).post_write(pair.write(0, 0, bytes, 1)) != post_status::accepted)
    return "not taken";
  if (!pair.wait_until([&] { return pair.total(1, kind::write_arrived) == 1; }))
    return "it did not arrive";
  if (!pair.wait_until([&] { return pair.total(0, kind::write_completed) == 1; }))
    return "it did not complete";
  if (pair.log(1)[0].bytes != bytes) return "wrong length";
  return pair.target_holds(1, 3, 0, bytes) ? "" : "wrong bytes";
}

std::string both_directions_work_at_once(lane_world& world) {
  constexpr std::uint64_t bytes = 2 * 1024 * 1024;
  constexpr std::uint64_t write_count = 8;
  lane_pair pair(world, write_count * bytes);
  if (!pair.connect()) return "no lane";
  for (std::uint32_t i = 0; i < write_count; ++i) {
    for (int side = 0; side < 2; ++side) {
      const auto text = 10 * i + static_cast<std::uint64_t>(side);
      pair.fill_source(side, text, i * bytes, bytes);
      if (pair.at(side).post_write(pair.write(side, i * bytes, bytes, i)) != post_status::accepted)
        return "write not taken";
      if (pair.at(side).post_message(text_of(i, 100)) != post_status::accepted)
        return "message not taken";
    }
  }
  const auto arrived = [&](int side) {
    return pair.total(side, kind::write_arrived) == write_count &&
           pair.total(side, kind::message_arrived) == write_count;
  };
  if (!pair.wait_until([&] { return arrived(0) && arrived(1); })) return "not all arrived";
  for (std::uint32_t i = 0; i < write_count; ++i)
    for (int side = 0; side < 2; ++side)
      if (!pair.target_holds(1 - side, 10 * i + static_cast<std::uint64_t>(side), i * bytes, bytes))
        return "wrong bytes from endpoint " + std::to_string(side);
  return "";
}

}  // namespace troupe::conformance
