#define BOOST_TEST_MODULE epoch_machine
#include "actors/rank/epoch_machine.hpp"

#include <boost/test/unit_test.hpp>

// Whole view changes are in tests/sim/actors; here is what a member does by itself.

using namespace troupe;
using namespace troupe::actors;

namespace {

struct member {
  explicit member(std::uint32_t size, std::uint32_t self = 0, bool has_others = true) {
    state.membership = net::make_member({1}, {self}, net::first_epoch(size), {});
    state.has_others = has_others;
  }

  epoch_effects tell(const epoch_event& event) {
    epoch_effects out;
    step(state, event, instant{}, out);
    return out;
  }
  epoch_effects hear(net::membership_event event) { return tell(epoch_event(std::move(event))); }

  epoch_state state;
};

template <class Effect>
std::size_t count(const epoch_effects& effects) {
  std::size_t n = 0;
  for (const auto& one : effects)
    n += std::holds_alternative<Effect>(one) ? 1 : 0;
  return n;
}

template <class Effect>
const Effect& only(const epoch_effects& effects) {
  BOOST_REQUIRE(count<Effect>(effects) == 1u);
  for (const auto& one : effects)
    if (const auto* found = std::get_if<Effect>(&one)) return *found;
  throw std::logic_error("unreachable");
}

}  // namespace

BOOST_AUTO_TEST_CASE(promised_operations_run_one_after_the_other) {
  member one(2);
  BOOST_TEST(only<start_promised>(one.tell(promised_called{5})).slot == 5u);
  BOOST_TEST(count<start_promised>(one.tell(promised_called{9})) == 0u);
  const auto effects = one.tell(promised_confirmed{5});
  BOOST_TEST(only<finish_promised>(effects).slot == 5u);
  BOOST_TEST(only<start_promised>(effects).number.value == 2u);
}

BOOST_AUTO_TEST_CASE(an_epoch_closes_when_the_promised_operation_and_the_others_stand_still) {
  member one(1);
  one.tell(promised_called{5});
  const auto effects = one.hear(net::decision_needed{});
  BOOST_TEST(only<stop_promised>(effects).slot == 5u);
  BOOST_TEST(count<stop_others>(effects) == 1u);
  BOOST_TEST(count<net::enter_epoch>(one.tell(others_stopped{})) == 0u);
  const auto closed = one.tell(promised_stopped{.slot = 5});
  BOOST_TEST(count<net::enter_epoch>(closed) == 1u);
  BOOST_TEST(only<start_promised>(closed).again);
}

BOOST_AUTO_TEST_CASE(the_others_may_stand_still_last) {
  member one(1);
  one.tell(promised_called{5});
  one.hear(net::decision_needed{});
  BOOST_TEST(count<net::enter_epoch>(one.tell(promised_stopped{.slot = 5})) == 0u);
  BOOST_TEST(count<net::enter_epoch>(one.tell(others_stopped{})) == 1u);
  BOOST_TEST(count<net::enter_epoch>(one.tell(others_stopped{})) == 0u);
  BOOST_TEST(one.state.ignored == 1u);
}

BOOST_AUTO_TEST_CASE(a_result_that_is_whole_stands_by_decision) {
  member one(1);
  one.tell(promised_called{5});
  one.hear(net::decision_needed{});
  one.tell(others_stopped{});
  const auto effects = one.tell(promised_stopped{.slot = 5, .complete = true});
  BOOST_TEST(only<finish_promised>(effects).epoch.value == 0u);
}

BOOST_AUTO_TEST_CASE(a_failure_that_is_no_lost_peer_ends_the_operation_with_its_input_restored) {
  member one(1);
  one.tell(promised_called{5});
  const auto asked = one.tell(promised_stopped{.slot = 5, .why = errc::mismatch});
  BOOST_TEST(count<stop_others>(asked) == 1u);
  BOOST_TEST(only<restore_promised>(one.tell(others_stopped{})).slot == 5u);
  const auto effects = one.tell(input_restored{5});
  BOOST_TEST((only<fail_promised>(effects).why == errc::mismatch));
}

BOOST_AUTO_TEST_CASE(whoever_leaves_ends_its_calls_and_tells_the_others) {
  member one(3);
  one.tell(promised_called{5});
  one.tell(promised_called{6});
  const auto left = one.hear(net::leave_wanted{errc::finalized});
  BOOST_TEST(count<net::send_membership>(left) == 2u);
  BOOST_TEST((only<net::leave_communicator>(left).why == errc::finalized));
  one.tell(promised_stopped{.slot = 5});
  const auto effects = one.tell(input_restored{5});
  BOOST_TEST(count<fail_promised>(effects) == 2u);
}
