#define BOOST_TEST_MODULE worker_start_stop
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <string>
#include <thread>

#include "actors/worker/polling_worker.hpp"
#include "tests/actors/process_footprint.hpp"

namespace troupe::actors {

struct bounce {
  int left = 0;
};

}  // namespace troupe::actors

TROUPE_LOCAL_MESSAGE(troupe::actors::bounce)

namespace troupe::actors {
namespace {

using bouncer = caf::typed_actor<TROUPE_HANDLES(bounce)>;

struct bouncer_state {
  bouncer_state() {}
};

struct observed {
  std::atomic<std::thread::id> home{};
  std::atomic<int> strayed{0};
  std::atomic<bool> done{false};
};

bouncer::behavior_type behave(bouncer::stateful_pointer<bouncer_state> self, worker* home,
                              observed* seen) {
  return {[=](const bounce& message) {
    const auto here = std::this_thread::get_id();
    std::thread::id nobody{};
    seen->home.compare_exchange_strong(nobody, here);
    if (seen->home.load() != here) seen->strayed.fetch_add(1);
    if (message.left == 0)
      seen->done.store(true);
    else
      post(home->unit(), bouncer{self}, bounce{message.left - 1});
  }};
}

int strayed_in_one_cycle() {
  polling_options quick;
  quick.spin = std::chrono::microseconds(5);
  quick.yield = std::chrono::microseconds(20);
  polling_worker first(quick);
  polling_worker second(quick);
  observed at_first, at_second;
  auto one = first.system().spawn(behave, &first, &at_first);
  auto two = second.system().spawn(behave, &second, &at_second);
  post(nullptr, one, bounce{8});
  post(nullptr, two, bounce{8});
  while (!at_first.done.load() || !at_second.done.load())
    std::this_thread::yield();
  stop_actor(one);
  stop_actor(two);
  const bool shared = at_first.home.load() == at_second.home.load();
  return at_first.strayed + at_second.strayed + (shared ? 1 : 0);
}

// CAF's own clock has room for 64 ends of actors if its thread does not run: see quiet_clock.
BOOST_AUTO_TEST_CASE(one_worker_outlives_any_number_of_actors) {
  polling_worker home(polling_options{});
  observed seen;
  for (int i = 0; i < 1000; ++i) {
    auto one = home.system().spawn(behave, &home, &seen);
    post(nullptr, one, bounce{0});
    stop_actor(one);
  }
  while (home.system().registry().running() != 0)
    std::this_thread::yield();
  BOOST_TEST(seen.done.load());
}

BOOST_AUTO_TEST_CASE(ten_thousand_starts_and_stops_of_two_workers_leave_nothing_and_stray_nowhere) {
  int strayed = 0;
  for (int i = 0; i < 200; ++i)
    strayed += strayed_in_one_cycle();
  const test::process_footprint before;
  for (int i = 0; i < 9'800; ++i)
    strayed += strayed_in_one_cycle();
  BOOST_TEST(strayed == 0);
  // 9,800 cycles: a leak of 100 bytes each would be 957 KiB.
  before.check_nothing_left(900);
}

BOOST_AUTO_TEST_CASE(a_send_to_a_parked_worker_wakes_it) {
  polling_options quick;
  quick.spin = duration::zero();
  quick.yield = duration::zero();
  polling_worker home(quick);
  observed seen;
  auto one = home.system().spawn(behave, &home, &seen);
  for (int round = 0; round < 20; ++round) {
    const auto parks = home.counters().parks.get();
    while (home.counters().parks.get() == parks && !seen.done.load())
      std::this_thread::yield();
    seen.done.store(false);
    post(nullptr, one, bounce{0});
    const auto begin = std::chrono::steady_clock::now();
    while (!seen.done.load() &&
           std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(900))
      std::this_thread::yield();
    BOOST_REQUIRE(seen.done.load());
  }
  stop_actor(one);
}

}  // namespace
}  // namespace troupe::actors
