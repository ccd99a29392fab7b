#define BOOST_TEST_MODULE worker_waiting
#include <boost/test/unit_test.hpp>

#include "actors/worker/idle_pause.hpp"
#include "actors/worker/overlap_guess.hpp"

namespace troupe::actors {
namespace {

using namespace std::chrono_literals;
using advice = idle_pause::advice;

instant at(duration since_start) {
  return instant{} + since_start;
}

advice ask(idle_pause& pause, duration idle, instant now) {
  return pause.next(idle, now, 50us, 200us);
}

BOOST_AUTO_TEST_CASE(a_loop_keeps_its_processor_for_a_moment_then_yields_then_sleeps) {
  idle_pause pause;
  BOOST_TEST((ask(pause, 0us, at(0us)) == advice::spin));
  BOOST_TEST((ask(pause, 2us, at(2us)) == advice::yield));
  BOOST_TEST((ask(pause, 249us, at(249us)) == advice::yield));
  BOOST_TEST((ask(pause, 250us, at(250us)) == advice::sleep));
}

BOOST_AUTO_TEST_CASE(after_a_yield_that_cost_a_time_slice_it_spins_its_whole_time) {
  idle_pause pause;
  BOOST_REQUIRE((ask(pause, 2us, at(2us)) == advice::yield));
  ask(pause, 10us, at(4ms));
  BOOST_TEST((ask(pause, 10us, at(4ms + 1us)) == advice::spin));
  BOOST_TEST((ask(pause, 49us, at(4ms + 2us)) == advice::spin));
  BOOST_TEST((ask(pause, 51us, at(4ms + 3us)) == advice::yield));
}

BOOST_AUTO_TEST_CASE(work_that_came_meanwhile_is_not_taken_for_a_long_yield) {
  idle_pause pause;
  BOOST_REQUIRE((ask(pause, 2us, at(2us)) == advice::yield));
  pause.worked();
  BOOST_TEST((ask(pause, 2us, at(5ms)) == advice::yield));
}

BOOST_AUTO_TEST_CASE(short_yields_in_a_row_make_it_generous_again) {
  idle_pause pause;
  auto now = at(2us);
  ask(pause, 2us, now);
  ask(pause, 10us, now += 4ms);  // greedy from here on
  for (int i = 0; i < 65; ++i)
    BOOST_REQUIRE((ask(pause, 60us, now += 1us) == advice::yield));
  BOOST_TEST((ask(pause, 2us, now += 1us) == advice::yield));
}

BOOST_AUTO_TEST_CASE(neither_spin_nor_yield_means_sleep_at_once) {
  idle_pause pause;
  BOOST_TEST((pause.next(0us, at(0us), 0us, 0us) == advice::sleep));
}

BOOST_AUTO_TEST_CASE(calls_that_are_waited_for_at_once_need_no_worker) {
  overlap_guess guess;
  for (int i = 0; i < 3; ++i) {
    BOOST_TEST(!guess.called(at(i * 100us)));
    guess.waited(at(i * 100us + 5us));
  }
}

BOOST_AUTO_TEST_CASE(after_one_wait_that_came_late_calls_wake_the_worker) {
  overlap_guess guess;
  BOOST_TEST(!guess.called(at(0us)));
  guess.waited(at(1ms));
  BOOST_TEST(guess.called(at(2ms)));
  guess.waited(at(2ms + 5us));
  BOOST_TEST(!guess.called(at(3ms)));
}

BOOST_AUTO_TEST_CASE(a_call_long_after_another_that_nobody_waited_for_wakes_the_worker) {
  overlap_guess guess;
  BOOST_TEST(!guess.called(at(0us)));
  BOOST_TEST(!guess.called(at(10us)));
  BOOST_TEST(guess.called(at(500us)));
}

}  // namespace
}  // namespace troupe::actors
