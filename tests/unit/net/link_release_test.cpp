#define BOOST_TEST_MODULE link_release
#include "tests/unit/net/link_fixture.hpp"

using namespace troupe;
using namespace troupe::net;
using namespace troupe::net::test;
using namespace std::chrono_literals;

namespace {

// A put of one segment that its only data lane reads and does not complete.
struct stuck_put : fixture {
  stuck_put() {
    connect();
    drive(put_requested{id_of(1), signature, memory(20'000), 42});
    hear(0, ready_body{id_of(1), signature, 20'000, 77});
    drive(budget_granted{8 << 20});
    posted = one<post_segment>();
  }

  void cancel() { drive(operation_cancelled{communicator_id{1}, epoch{0}, operation_number{1}}); }

  // Time passes, the peer is heard on the control lane, the timer fires when it should.
  void pass(duration length) {
    for (duration gone{}; gone < length; gone += 100ms) {
      now += 100ms;
      hear(0, acknowledge_body{});
      drive(link_timer_fired{state->clock.generation});
      for (const auto& closed_lane : all<close_lane>())
        closed.push_back(closed_lane.lane);
    }
  }

  post_segment posted;
  std::vector<std::uint8_t> closed;
};

BOOST_AUTO_TEST_CASE(a_lane_that_sits_on_a_cancelled_put_is_closed_long_before_its_timeout) {
  stuck_put f;
  f.pass(1s);
  BOOST_TEST(f.closed.empty());
  f.cancel();
  BOOST_TEST(f.all<release_source>().empty());
  f.pass(400ms);
  BOOST_TEST(f.closed.empty());
  f.pass(200ms);
  BOOST_REQUIRE(f.closed.size() == 1u);
  BOOST_TEST(f.closed[0] == f.posted.lane);
  BOOST_TEST(f.state->held.count == 0u);
}

BOOST_AUTO_TEST_CASE(a_lane_that_completes_in_time_stays) {
  stuck_put f;
  f.cancel();
  f.pass(300ms);
  f.drive(write_finished{f.posted.lane, f.posted.write.context});
  BOOST_TEST(f.one<release_source>().token == 42u);
  BOOST_TEST(f.state->held.count == 0u);
  f.pass(2s);
  BOOST_TEST(f.closed.empty());
}

BOOST_AUTO_TEST_CASE(a_second_cancellation_counts_once) {
  stuck_put f;
  f.cancel();
  f.cancel();
  BOOST_TEST(f.state->held.count == 1u);
}

}  // namespace
