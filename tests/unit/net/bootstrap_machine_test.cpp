#define BOOST_TEST_MODULE bootstrap_machine
#include "net/bootstrap/bootstrap_machine.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "net/crypto/hmac.hpp"
#include "runtime/random.hpp"

using namespace troupe;
using namespace troupe::net;
using namespace std::chrono_literals;

namespace {

lane_address loopback(std::uint16_t port) {
  lane_address a;
  a.host[10] = a.host[11] = std::byte{0xff};
  a.host[12] = std::byte{127};
  a.host[15] = std::byte{1};
  a.port = port;
  return a;
}

bootstrap_options options_of(std::uint32_t self, std::uint32_t world_size) {
  bootstrap_options o;
  o.self = rank{self};
  o.world_size = world_size;
  o.rendezvous = loopback(4711);
  o.secret.assign(16, std::byte{3});
  o.crypto = {hmac_sha256, constant_time_equal};
  return o;
}

struct driven {
  explicit driven(bootstrap_options options) : state(std::move(options)) {}

  void drive(const bootstrap_event& event) {
    out.clear();
    step(state, event, now, out);
    for (const auto& effect : out)
      if (const auto* timer = std::get_if<arm_bootstrap_timer>(&effect)) armed = *timer;
  }
  /// Lets the armed timers fire, one after the other, up to and including `until`; stops early if
  /// an effect of type `Wanted` comes.
  template <class Wanted>
  const Wanted* wait(instant until) {
    for (;;) {
      if (const auto* found = first<Wanted>()) return found;
      if (armed.deadline > until) return nullptr;
      now = std::max(now, armed.deadline);
      const auto fired = armed;
      armed.deadline = never;
      drive(bootstrap_timer_fired{fired.generation});
    }
  }
  template <class Wanted>
  const Wanted* first() const {
    for (const auto& effect : out)
      if (const auto* found = std::get_if<Wanted>(&effect)) return found;
    return nullptr;
  }

  bootstrap_state state;
  bootstrap_effects out;
  instant now{1s};
  arm_bootstrap_timer armed{};
};

join_started start_at(std::uint16_t port) {
  return {.entropy = {std::byte{9}}, .own_address = loopback(port)};
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_world_of_one_joins_at_once_and_dials_nobody) {
  driven d(options_of(0, 1));
  d.drive(start_at(4711));
  BOOST_TEST(d.out.size() == 1u);
  BOOST_TEST((d.first<report_joined>() != nullptr));
  BOOST_TEST((d.state.book.at(rank{0}).address == loopback(4711)));
  d.drive(leave_started{});
  BOOST_TEST((d.state.phase == bootstrap_phase::left));
}

BOOST_AUTO_TEST_CASE(worlds_that_cannot_be_are_refused_before_anything_is_dialled) {
  driven none(options_of(0, 0));
  none.drive(start_at(1));
  BOOST_REQUIRE((none.first<report_join_failed>() != nullptr));
  BOOST_TEST((none.first<report_join_failed>()->cause.code == errc::bad_argument));
  auto o = options_of(5, 101);
  o.rendezvous_fan_out = 10;
  driven large(o);
  large.drive(start_at(1));
  BOOST_REQUIRE((large.first<report_join_failed>() != nullptr));
  BOOST_TEST((large.first<report_join_failed>()->cause.code == errc::not_available));
  BOOST_TEST(large.first<report_join_failed>()->text ==
             "phase start: a rendezvous fan-out of 10 reaches 100 ranks in two levels, the world "
             "has 101");
}

BOOST_AUTO_TEST_CASE(rank_0_names_the_missing_ranks_before_anybody_gives_up) {
  driven d(options_of(0, 16));
  const auto started = d.now;
  d.drive(start_at(4711));
  const auto* failed = d.wait<report_join_failed>(started + 60s);
  BOOST_REQUIRE((failed != nullptr));
  BOOST_TEST((failed->cause.code == errc::timed_out));
  BOOST_TEST(failed->text == "phase registration: ranks 1-15 of 16 did not register within 60 s");
  BOOST_TEST((d.now <= started + 60s));
}

BOOST_AUTO_TEST_CASE(a_rank_that_cannot_reach_the_rendezvous_says_so_in_full) {
  driven d(options_of(3, 16));
  const auto started = d.now;
  d.drive(start_at(5000));
  std::uint32_t dial_count = 0;
  for (;;) {
    const auto* dial = d.wait<dial_connection>(started + 61s);
    if (dial == nullptr) break;
    BOOST_TEST((dial->to == loopback(4711)));
    ++dial_count;
    d.drive(connection_refused{dial->connection, {errc::unreachable, 111}});
  }
  const auto* failed = d.first<report_join_failed>();
  BOOST_REQUIRE((failed != nullptr));
  BOOST_TEST((failed->cause.code == errc::unreachable));
  BOOST_TEST((d.now == started + 60s));
  BOOST_TEST(failed->text ==
             "phase registration: rank 0 (127.0.0.1:4711) could not be reached "
             "within 60 s; " +
                 std::to_string(dial_count) +
                 " dials, at last it could not be connected to (unreachable, "
                 "native code 111)");
  // Pauses settle at a third of a second, give or take half of it.
  BOOST_TEST(dial_count > 100u);
  BOOST_TEST(dial_count < 400u);
}

BOOST_AUTO_TEST_CASE(a_failure_of_this_machine_is_not_blamed_on_the_rendezvous_and_ends_at_once) {
  driven d(options_of(3, 16));
  const auto started = d.now;
  d.drive(start_at(5000));
  const auto* dial = d.wait<dial_connection>(started + 1s);
  BOOST_REQUIRE((dial != nullptr));
  d.drive(connection_refused{dial->connection, {errc::resource_exhausted, 24}});
  const auto* failed = d.first<report_join_failed>();
  BOOST_REQUIRE((failed != nullptr));
  BOOST_TEST((failed->cause.code == errc::resource_exhausted));
  BOOST_TEST(failed->text ==
             "phase registration: rank 0 (127.0.0.1:4711): could not be connected to "
             "(resource_exhausted, native code 24)");
}

BOOST_AUTO_TEST_CASE(silent_strangers_cost_a_slot_each_until_the_step_deadline) {
  auto o = options_of(0, 2);
  o.pending_connection_count = 4;
  driven d(o);
  d.drive(start_at(4711));
  for (std::uint64_t id = 1; id <= 100; ++id) {
    d.drive(connection_accepted{id});
    BOOST_TEST(d.state.connections.size() <= 4u);
  }
  BOOST_TEST(d.state.counters.strangers == 96u);
  d.now += 10s;
  d.drive(bootstrap_timer_fired{d.armed.generation});
  BOOST_TEST(d.state.connections.empty());
  BOOST_TEST(d.state.counters.strangers == 100u);
}

BOOST_AUTO_TEST_CASE(garbage_is_closed_and_answered_with_nothing) {
  driven d(options_of(0, 2));
  d.drive(start_at(4711));
  d.drive(connection_accepted{1});
  const std::vector<std::byte> noise(200, std::byte{'x'});
  d.drive(connection_message{1, noise});
  BOOST_TEST((d.first<send_on_connection>() == nullptr));
  BOOST_REQUIRE((d.first<close_connection>() != nullptr));
  BOOST_REQUIRE((d.first<count_stranger>() != nullptr));
  BOOST_TEST(d.first<count_stranger>()->reason == std::string("sent something that is no hello"));
}

BOOST_AUTO_TEST_CASE(before_and_after_a_job_connections_are_closed) {
  driven d(options_of(0, 1));
  d.drive(connection_accepted{1});
  BOOST_TEST((d.first<close_connection>() != nullptr));
  d.drive(start_at(1));
  d.drive(leave_started{});
  d.drive(connection_accepted{2});
  BOOST_TEST((d.first<close_connection>() != nullptr));
  BOOST_TEST(d.state.connections.empty());
}

// Whatever comes in whatever phase: bounded effects, bounded tables, no assertion.
BOOST_AUTO_TEST_CASE(the_machine_is_total) {
  random_stream random(4);
  std::array<std::byte, lane_message_bytes_max> wire{};
  std::vector<std::byte> pool(lane_message_bytes_max);
  for (auto& b : pool)
    b = static_cast<std::byte>(random.next());
  for (int run = 0; run < 300; ++run) {
    auto o = options_of(static_cast<std::uint32_t>(random.below(6)),
                        static_cast<std::uint32_t>(random.below(6)));
    o.rendezvous_fan_out = static_cast<std::uint32_t>(random.between(2, 8));
    o.pending_connection_count = 8;
    driven d(o);
    if (!random.one_in(8)) d.drive(start_at(1));
    for (int i = 0; i < 400; ++i) {
      d.now += duration(random.below(50'000'000));
      // Real ids of dialled and accepted connections, and wrong ones.
      const auto id =
          random.one_in(2) ? random.below(12) : (std::uint64_t{1} << 63) + random.below(12);
      std::span<const std::byte> bytes(pool.data(), random.below(pool.size()));
      if (random.one_in(2)) {
        bytes = std::span(wire).first(encode_bootstrap_frame(
            hello_frame{.protocol_version = bootstrap_protocol_version, .dialer = rank{1}}, wire));
      }
      const auto any_rank = rank{static_cast<std::uint32_t>(random.below(8))};
      switch (random.below(11)) {
        case 0: d.drive(start_at(2)); break;
        case 1: d.drive(connection_accepted{id}); break;
        case 2: d.drive(connection_opened{id}); break;
        case 3: d.drive(connection_refused{id, {errc::unreachable}}); break;
        case 4: d.drive(connection_message{id, bytes}); break;
        case 5: d.drive(connection_lost{id, {errc::peer_lost}}); break;
        case 6: d.drive(link_wanted{any_rank}); break;
        case 7: d.drive(link_dropped{any_rank, random.below(2)}); break;
        case 8: d.drive(death_learned{any_rank}); break;
        case 9:
          if (random.one_in(40)) d.drive(leave_started{});
          break;
        default: d.drive(bootstrap_timer_fired{d.state.timer_generation}); break;
      }
      BOOST_REQUIRE(d.state.connections.size() <= 40u);
    }
  }
}
