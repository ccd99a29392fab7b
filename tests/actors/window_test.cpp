#define BOOST_TEST_MODULE window
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "runtime/random.hpp"
#include "tests/actors/local_job.hpp"

namespace troupe::test {
namespace {

using namespace std::chrono_literals;

std::vector<std::byte> drawn(std::uint64_t seed, std::size_t bytes) {
  random_stream draw(seed);
  std::vector<std::byte> out(bytes);
  for (auto& b : out)
    b = static_cast<std::byte>(draw.next());
  return out;
}

bool good(const outcome<work_handle>& work) {
  return work.has_value() && (*work)->wait(20s).has_value();
}

failure end_of(const outcome<work_handle>& work) {
  if (!work) return work.error();
  if (auto done = (*work)->wait(20s); !done) return done.error();
  return {};
}

std::unique_ptr<window> open_window(communicator& c, std::vector<std::byte>& memory) {
  auto made = c.create_window({.base = memory.data(), .bytes = memory.size()});
  BOOST_REQUIRE_MESSAGE(made.has_value(), (made ? "" : to_string(made.error())));
  return std::move(*made);
}

local_job three_ranks(const char* lanes) {
  auto job = join_locally(3, {{"transport.lanes", lanes}, {"transport.data_lane_count", "3"}});
  for (const auto& f : job.failures)
    BOOST_REQUIRE_MESSAGE(f.code() == errc::ok, f.message);
  return job;
}

BOOST_AUTO_TEST_CASE(what_is_put_is_there_when_the_notification_is_and_a_get_brings_it_back) {
  constexpr std::size_t part = 3'000'000;
  for (const char* lanes : {"tcp", "shm"}) {
    auto job = three_ranks(lanes);
    std::atomic<int> wrong{0};
    on_all_ranks(job, [&](std::size_t r) {
      auto& c = job[r];
      std::vector<std::byte> memory(3 * part);
      auto w = open_window(c, memory);
      wrong += w->bytes_of(rank{2}) != memory.size();
      std::uint64_t seed = 1;
      for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{8},
                                      std::size_t{1000}, std::size_t{100'000}, part}) {
        ++seed;
        // Into the own part of the window of everybody, oneself included.
        const auto mine = drawn(seed * 10 + r, bytes);
        for (std::uint32_t peer = 0; peer < 3; ++peer)
          wrong += !good(w->put({.source = mine.data(),
                                 .bytes = bytes,
                                 .peer = rank{peer},
                                 .offset = r * part,
                                 .notify = true}));
        for (std::uint32_t peer = 0; peer < 3; ++peer) {
          wrong += !good(w->wait_notifications({.peer = rank{peer}}));
          const auto theirs = drawn(seed * 10 + peer, bytes);
          wrong += !std::equal(theirs.begin(), theirs.end(), memory.begin() + peer * part);
        }
        wrong += !good(c.barrier());
        for (std::uint32_t peer = 0; peer < 3; ++peer) {
          std::vector<std::byte> back(bytes, std::byte{0xee});
          wrong += !good(w->get(
              {.target = back.data(), .bytes = bytes, .peer = rank{peer}, .offset = r * part}));
          wrong += back != mine;
        }
        wrong += !good(c.barrier());
      }
    });
    BOOST_TEST(wrong.load() == 0, lanes);
  }
}

/// Puts all of it in pieces of any size; returns how many calls failed.
int put_in_pieces(window& w, const std::vector<std::byte>& content, std::uint64_t seed) {
  random_stream draw(seed);
  int wrong = 0;
  for (std::size_t at = 0; at < content.size();) {
    const auto drawn_bytes = draw.one_in(2) ? draw.between(1, 3000) : draw.between(1, 400'000);
    const auto length = std::min<std::size_t>(content.size() - at, drawn_bytes);
    const auto put =
        w.put({.source = content.data() + at, .bytes = length, .peer = rank{1}, .offset = at});
    // The queue of the communicator has a bound; nothing else makes a caller wait.
    if (!put && put.error().code() == errc::queue_full) {
      wrong += !w.flush(20s).has_value();
      continue;
    }
    wrong += !put.has_value();
    at += length;
  }
  return wrong;
}

BOOST_AUTO_TEST_CASE(one_notification_vouches_for_everything_put_before_it) {
  constexpr std::size_t bytes = 4'000'000;
  auto job = three_ranks("tcp");
  std::atomic<int> wrong{0};
  on_all_ranks(job, [&](std::size_t r) {
    auto& c = job[r];
    std::vector<std::byte> memory(r == 1 ? bytes : 0);
    auto w = open_window(c, memory);
    for (std::uint64_t round = 0; round < 10; ++round) {
      const auto content = drawn(100 + round, bytes);
      if (r == 0) {
        wrong += put_in_pieces(*w, content, round);
        wrong += !good(w->put({.peer = rank{1}, .notify = true}));
        wrong += !w->flush(20s).has_value();
      } else if (r == 1) {
        wrong += !good(w->wait_notifications({.peer = rank{0}}));
        wrong += memory != content;
      }
      wrong += !good(c.barrier());
    }
  });
  BOOST_TEST(wrong.load() == 0);
}

BOOST_AUTO_TEST_CASE(waits_take_notifications_in_the_order_of_their_calls) {
  auto job = three_ranks("shm");
  std::atomic<int> wrong{0};
  on_all_ranks(job, [&](std::size_t r) {
    std::vector<std::byte> memory(8);
    auto w = open_window(job[r], memory);
    if (r == 0) {
      const auto first = w->wait_notifications({.peer = rank{1}, .count = 3});
      const auto second = w->wait_notifications({.peer = rank{1}, .count = 2});
      wrong += !good(job[r].barrier());
      wrong += !good(first) || !good(second);
      // All five are taken: a sixth does not come.
      const auto third = w->wait_notifications({.peer = rank{1}, .options = {.timeout = 200ms}});
      wrong += end_of(third).code() != errc::timed_out;
    } else {
      wrong += !good(job[r].barrier());
      for (int i = 0; r == 1 && i < 5; ++i)
        wrong += !good(w->put({.peer = rank{0}, .notify = true}));
    }
  });
  BOOST_TEST(wrong.load() == 0);
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_refused_before_anything_starts) {
  auto job = three_ranks("shm");
  std::atomic<int> wrong{0};
  on_all_ranks(job, [&](std::size_t r) {
    std::vector<std::byte> memory(100);
    auto w = open_window(job[r], memory);
    std::byte one{};
    const auto says = [&](const outcome<work_handle>& work, const std::string& text) {
      const bool said = !work && work.error().code() == errc::bad_argument &&
                        work.error().message.find(text) != std::string::npos;
      wrong += !said;
    };
    says(w->put({.source = &one, .bytes = 1, .peer = rank{1}, .offset = 100}),
         "put: 1 bytes at offset 100 leave the window of rank 1, which has 100 bytes");
    says(w->put({.source = &one, .bytes = ~0ull, .peer = rank{1}, .offset = 1}),
         "leave the window");
    says(w->get({.target = &one, .bytes = 101, .peer = rank{2}}), "get: 101 bytes at offset 0");
    says(w->get({.target = &one, .bytes = 1, .peer = rank{3}}), "ranks 0 to 2");
    says(w->put({.bytes = 1, .peer = rank{1}}), "null");
    says(w->wait_notifications({.peer = rank{1}, .count = 0}), "count is 0");
    const auto none = job[r].create_window({.base = nullptr, .bytes = 1});
    wrong += none.has_value() || none.error().code() != errc::bad_argument;
    wrong += !good(job[r].barrier());
  });
  BOOST_TEST(wrong.load() == 0);
}

BOOST_AUTO_TEST_CASE(a_put_or_get_after_the_window_closed_writes_nothing_and_says_so) {
  for (const bool gets : {false, true}) {
    auto job = three_ranks("tcp");
    std::atomic<int> wrong{0};
    std::vector<failure> ends(3);
    on_all_ranks(job, [&](std::size_t r) {
      std::vector<std::byte> memory(100'000, std::byte{7});
      auto w = open_window(job[r], memory);
      if (r == 1) w.reset();
      // The others may hear of the failure before they hear of the end of this barrier.
      wrong += !good(job[r].barrier()) && r == 0;
      std::vector<std::byte> mine(100'000, std::byte{1});
      if (r == 0) {
        const auto work = gets ? w->get({.target = mine.data(), .bytes = 100'000, .peer = rank{1}})
                               : w->put({.source = mine.data(), .bytes = 100'000, .peer = rank{1}});
        ends[r] = end_of(work);
        // A refusal may come behind the end of a put: the next call hears of it.
        if (ends[r].code() == errc::ok) ends[r] = end_of(job[r].barrier());
      } else {
        ends[r] = end_of(job[r].barrier());
      }
      wrong += !std::all_of(memory.begin(), memory.end(), [](auto b) { return b == std::byte{7}; });
    });
    BOOST_TEST(wrong.load() == 0);
    for (const auto& end : ends)
      BOOST_TEST((end.code() == errc::mismatch), to_string(end));
    BOOST_TEST(ends[0].message.find("rank 1 has closed") != std::string::npos, ends[0].message);
  }
}

}  // namespace
}  // namespace troupe::test
