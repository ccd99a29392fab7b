#define BOOST_TEST_MODULE timer_queue
#include <boost/test/unit_test.hpp>

#include <vector>

#include "actors/watchdog/watchdog_machine.hpp"
#include "actors/worker/timer_queue.hpp"

namespace troupe::actors {
namespace {

struct recorder final : timer_owner {
  void on_timer(std::uint64_t generation) override { fired.push_back(generation); }
  std::vector<std::uint64_t> fired;
};

constexpr instant at(std::int64_t ns) {
  return instant(duration(ns));
}

BOOST_AUTO_TEST_CASE(a_timer_fires_once_at_its_deadline_with_its_last_generation) {
  timer_queue q;
  recorder r;
  const auto id = q.create(r);
  q.arm(id, at(10), 1);
  q.arm(id, at(20), 2);
  BOOST_TEST(!q.poll(at(19)));
  BOOST_TEST(q.poll(at(20)));
  BOOST_TEST(!q.poll(at(100)));
  BOOST_TEST(r.fired == std::vector<std::uint64_t>{2}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_timer_can_move_to_an_earlier_time) {
  timer_queue q;
  recorder r;
  const auto id = q.create(r);
  q.arm(id, at(50), 1);
  q.arm(id, at(5), 2);
  BOOST_TEST((q.next_deadline() == at(5)));
  BOOST_TEST(q.poll(at(5)));
  BOOST_TEST(!q.poll(at(60)));
  BOOST_TEST(r.fired.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_destroyed_timer_never_fires_and_its_place_is_reused) {
  timer_queue q;
  recorder dead, alive;
  const auto id = q.create(dead);
  q.arm(id, at(10), 1);
  q.destroy(id);
  BOOST_TEST(q.create(alive) == id);
  q.poll(at(20));
  BOOST_TEST(dead.fired.empty());
  BOOST_TEST(alive.fired.empty());
}

BOOST_AUTO_TEST_CASE(equal_times_fire_in_order_of_creation) {
  timer_queue q;
  recorder r;
  const auto first = q.create(r), second = q.create(r);
  q.arm(second, at(7), 2);
  q.arm(first, at(7), 1);
  q.poll(at(7));
  BOOST_TEST(r.fired == (std::vector<std::uint64_t>{1, 2}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_watchdog_expires_what_is_late_and_rests_when_nothing_runs) {
  watchdog_state s{duration(20), duration(200), at(0)};
  watchdog_verdict out;
  const std::vector<watched_operation> running{
      {1, at(100), false}, {2, at(50), true}, {3, never, false}};
  look(s, running, false, at(100), out);
  BOOST_TEST(out.expired == std::vector<std::uint32_t>{1}, boost::test_tools::per_element());
  BOOST_TEST((out.next_look == at(120)));
  BOOST_TEST((out.ask_unmatched_older_than == never));
  look(s, running, false, at(200), out);
  BOOST_TEST((out.ask_unmatched_older_than == at(0)));
  look(s, {}, false, at(220), out);
  BOOST_TEST(out.expired.empty());
  BOOST_TEST((out.next_look == never));
}

BOOST_AUTO_TEST_CASE(the_watchdog_asks_for_what_nothing_matches_even_if_nothing_runs) {
  watchdog_state s{duration(20), duration(200), at(0)};
  watchdog_verdict out;
  look(s, {}, true, at(100), out);
  BOOST_TEST((out.ask_unmatched_older_than == never));
  BOOST_TEST((out.next_look == at(120)));
  look(s, {}, true, at(200), out);
  BOOST_TEST((out.ask_unmatched_older_than == at(0)));
  look(s, {}, false, at(220), out);
  BOOST_TEST((out.next_look == never));
}

}  // namespace
}  // namespace troupe::actors
