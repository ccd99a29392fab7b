#define BOOST_TEST_MODULE flight_window
#include "net/link/flight_window.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <deque>

namespace troupe::net {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t mib = 1 << 20;

/// One sender with as much to send as fits, and one path: `latency` long, with a queue in front of
/// its narrowest place, which takes `bytes_per_ns`.
struct path {
  explicit path(flight_window_options options) : window(options) {}

  duration latency = 100us;
  double bytes_per_ns = 50;
  std::uint64_t segment = 32 * 1024;
  flight_window window;

  instant now{};
  instant free_at{};
  std::uint64_t delivered = 0;
  std::uint64_t queue_max = 0;

  struct write {
    instant posted_at;
    instant done_at;
  };
  std::deque<write> under_way;

  void post_all() {
    while (window.in_flight() == 0 || window.available() >= segment) {
      const auto took = duration(static_cast<std::int64_t>(double(segment) / bytes_per_ns));
      free_at = std::max(free_at, now) + took;
      const auto waits = static_cast<double>((free_at - now - took).count());
      queue_max = std::max(queue_max, static_cast<std::uint64_t>(waits * bytes_per_ns));
      under_way.push_back({now, free_at + latency});
      window.on_posted(segment, now);
    }
    window.on_held_back();
  }

  void run(duration length) {
    const auto end = now + length;
    post_all();
    while (under_way.front().done_at <= end) {
      const auto done = under_way.front();
      under_way.pop_front();
      now = std::max(now, done.done_at);
      delivered += segment;
      window.on_completed(segment, done.posted_at, now);
      post_all();
    }
    now = end;
  }

  /// Share of the path's rate that got through in `length`.
  double share(duration length) {
    const auto before = delivered;
    queue_max = 0;
    run(length);
    return double(delivered - before) / (double(length.count()) * bytes_per_ns);
  }
};

flight_window_options adaptive() {
  return {.adapts = true,
          .start_bytes = 64 * 1024,
          .floor_bytes = 32 * 1024,
          .ceiling_bytes = 256 * mib};
}

BOOST_AUTO_TEST_CASE(a_window_that_does_not_adapt_stays_where_it_is) {
  path p({.ceiling_bytes = 3 * mib});
  p.run(5ms);
  BOOST_TEST(p.window.bytes() == 3 * mib);
}

BOOST_AUTO_TEST_CASE(the_window_finds_the_content_of_the_path_and_fills_it) {
  path p(adaptive());
  p.run(5ms);
  const double content = p.bytes_per_ns * 100'000;
  BOOST_TEST(double(p.window.bytes()) > content);
  BOOST_TEST(double(p.window.bytes()) < 1.4 * content);
  BOOST_TEST(p.share(10ms) > 0.97);
  BOOST_TEST(double(p.queue_max) < 0.5 * content);
}

BOOST_AUTO_TEST_CASE(a_path_that_became_longer_is_filled_again) {
  for (const int times : {2, 4, 10}) {
    path p(adaptive());
    p.run(10ms);
    p.latency *= times;
    p.run(60ms);
    BOOST_TEST(p.share(20ms) > 0.95, "latency times " << times);
    BOOST_TEST(double(p.queue_max) < 0.6 * p.bytes_per_ns * double(p.latency.count()));
  }
}

BOOST_AUTO_TEST_CASE(a_path_that_became_shorter_is_found_after_a_few_measurements) {
  path p(adaptive());
  p.latency = 400us;
  p.run(20ms);
  p.latency = 50us;
  p.run(500ms);
  BOOST_TEST(p.share(10ms) > 0.95);
  BOOST_TEST(double(p.window.bytes()) < 1.5 * p.bytes_per_ns * 50'000);
}

BOOST_AUTO_TEST_CASE(half_of_the_rate_taken_away_halves_the_window) {
  path p(adaptive());
  p.run(10ms);
  const auto before = p.window.bytes();
  p.bytes_per_ns = 25;
  p.run(10ms);
  BOOST_TEST(double(p.window.bytes()) < 0.65 * double(before));
  BOOST_TEST(p.share(10ms) > 0.95);
  p.bytes_per_ns = 50;
  p.run(10ms);
  BOOST_TEST(p.share(10ms) > 0.95);
}

BOOST_AUTO_TEST_CASE(measuring_the_base_again_costs_little) {
  auto options = adaptive();
  options.base_lifetime = 20ms;
  path p(options);
  p.run(10ms);
  BOOST_TEST(p.share(400ms) > 0.96);
}

BOOST_AUTO_TEST_CASE(an_owner_with_little_to_send_does_not_shrink_the_window) {
  path p(adaptive());
  p.run(10ms);
  const auto before = p.window.bytes();
  while (!p.under_way.empty()) {
    p.now = std::max(p.now, p.under_way.front().done_at);
    p.window.on_completed(p.segment, p.under_way.front().posted_at, p.now);
    p.under_way.pop_front();
  }
  for (int i = 0; i < 50; ++i) {
    p.window.on_posted(p.segment, p.now);
    const auto posted = p.now;
    p.now += 101us;
    p.window.on_completed(p.segment, posted, p.now);
  }
  BOOST_TEST(p.window.bytes() >= before / 2);
}

BOOST_AUTO_TEST_CASE(the_window_stays_between_floor_and_ceiling) {
  path slow(adaptive());
  slow.bytes_per_ns = 0.001;
  slow.run(3s);
  BOOST_TEST(slow.window.bytes() >= 32u * 1024);
  auto options = adaptive();
  options.ceiling_bytes = 1 * mib;
  path fast(options);
  fast.run(10ms);
  BOOST_TEST(fast.window.bytes() <= 1 * mib);
}

BOOST_AUTO_TEST_CASE(a_write_lost_with_its_lane_is_not_in_flight_and_says_nothing) {
  flight_window w(adaptive());
  w.on_posted(1000, instant{});
  w.on_posted(2000, instant{});
  w.on_lost(1000);
  BOOST_TEST(w.in_flight() == 2000u);
  BOOST_TEST(w.base_latency().count() == 0);
}

}  // namespace
}  // namespace troupe::net
