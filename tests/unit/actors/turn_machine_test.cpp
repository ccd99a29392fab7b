#define BOOST_TEST_MODULE turn_machine
#include "actors/collective/turn_machine.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "runtime/random.hpp"

namespace troupe::actors {
namespace {

struct turns {
  explicit turns(std::uint32_t count_max) : state(count_max, std::pmr::get_default_resource()) {}

  /// The operation that may begin now, if any.
  std::optional<std::uint16_t> drive(const turn_event& event) {
    turn_effects out;
    step(state, event, out);
    if (out.empty()) return {};
    return std::visit([](const auto& effect) { return effect.slot.index; }, out[0]);
  }
  std::optional<std::uint16_t> want(std::uint16_t index, bool is_oldest = false) {
    return drive(turn_wanted{{index, 0}, true, is_oldest});
  }
  std::optional<std::uint16_t> end(std::uint16_t index) { return drive(turn_ended{{index, 0}}); }

  turn_state state;
};

const std::optional<std::uint16_t> nobody;

BOOST_AUTO_TEST_CASE(beyond_the_limit_collectives_begin_in_the_order_in_which_they_asked) {
  turns t(2);
  BOOST_TEST((t.want(1) == 1));
  BOOST_TEST((t.want(2) == 2));
  BOOST_TEST((t.want(3) == nobody));
  BOOST_TEST((t.want(4) == nobody));
  BOOST_TEST((t.end(2) == 3));
  BOOST_TEST((t.end(1) == 4));
  BOOST_TEST((t.end(3) == nobody));
}

BOOST_AUTO_TEST_CASE(a_point_to_point_operation_never_waits_and_takes_nobodys_turn) {
  turns t(1);
  t.want(1);
  t.want(2);
  BOOST_TEST((t.drive(turn_wanted{{3, 0}, false, false}) == 3));
  BOOST_TEST((t.end(3) == nobody));
  BOOST_TEST((t.end(1) == 2));
}

BOOST_AUTO_TEST_CASE(the_oldest_of_a_communicator_never_waits) {
  turns t(1);
  t.want(1);
  BOOST_TEST((t.want(2, true) == 2));
  BOOST_TEST((t.want(3) == nobody));
  // Two run where one may: the first to end makes no room.
  BOOST_TEST((t.end(1) == nobody));
  BOOST_TEST((t.end(2) == 3));
}

BOOST_AUTO_TEST_CASE(one_that_waits_begins_when_it_becomes_the_oldest) {
  turns t(1);
  t.want(1);
  t.want(2);
  t.want(3);
  BOOST_TEST((t.drive(oldest_named{{3, 0}}) == 3));
  BOOST_TEST((t.drive(oldest_named{{3, 0}}) == nobody));
  BOOST_TEST((t.end(1) == nobody));
  BOOST_TEST((t.end(3) == 2));
}

BOOST_AUTO_TEST_CASE(one_that_is_stopped_while_it_waits_is_not_started) {
  turns t(1);
  t.want(1);
  t.want(2);
  t.want(3);
  BOOST_TEST((t.end(2) == nobody));
  BOOST_TEST((t.end(1) == 3));
}

BOOST_AUTO_TEST_CASE(a_second_wish_of_one_that_has_its_turn_or_waits_changes_nothing) {
  turns t(1);
  BOOST_TEST((t.want(1) == 1));
  BOOST_TEST((t.want(1) == 1));
  BOOST_TEST((t.want(2) == nobody));
  BOOST_TEST((t.want(2) == nobody));
  BOOST_TEST((t.end(1) == 2));
  BOOST_TEST((t.end(2) == nobody));
  BOOST_TEST(t.state.waiting.empty());
}

BOOST_AUTO_TEST_CASE(a_later_life_of_an_entry_is_another_operation) {
  turns t(1);
  t.want(1);
  t.want(2);
  BOOST_TEST((t.drive(turn_ended{{1, 1}}) == nobody));
  BOOST_TEST((t.drive(turn_ended{{1, 0}}) == 2));
}

/// Operations of some communicators, asked for, named and ended at random: simulation of the core.
BOOST_AUTO_TEST_CASE(whatever_comes_in_whatever_order_everybody_begins_once_and_none_starves) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    random_stream draw(seed);
    const auto limit = static_cast<std::uint32_t>(draw.between(1, 4));
    turns t(limit);
    std::map<std::uint16_t, std::uint64_t> communicator_of;  // of those that have not ended
    std::set<std::uint16_t> began;
    const auto begin = [&](std::optional<std::uint16_t> one) {
      if (one) BOOST_REQUIRE(communicator_of.count(*one) == 1);
      if (one) BOOST_REQUIRE(began.insert(*one).second);
    };
    const auto oldest_of = [&](std::uint64_t communicator) -> std::optional<std::uint16_t> {
      for (const auto& [index, of] : communicator_of)
        if (of == communicator) return index;
      return {};
    };
    std::uint16_t next = 0;
    for (int i = 0; i < 200 || !communicator_of.empty(); ++i) {
      BOOST_REQUIRE(i < 50'000);
      if (i < 200 && draw.one_in(2)) {
        const auto communicator = draw.below(3);
        const bool oldest = !oldest_of(communicator);
        communicator_of[next] = communicator;
        begin(t.want(next, oldest));
        if (oldest) BOOST_REQUIRE(began.count(next) == 1);
        ++next;
      } else if (!communicator_of.empty()) {
        auto at = communicator_of.begin();
        std::advance(at, static_cast<std::ptrdiff_t>(draw.below(communicator_of.size())));
        const auto [index, communicator] = *at;
        // One that waits ends only by being stopped, which is rare.
        if (began.count(index) == 0 && i < 200 && !draw.one_in(8)) continue;
        if (began.count(index) == 0 && i >= 200) continue;
        communicator_of.erase(at);
        begin(t.end(index));
        if (const auto oldest = oldest_of(communicator)) begin(t.drive(oldest_named{{*oldest, 0}}));
      }
      BOOST_REQUIRE(t.state.running.size() <= limit + 3);
    }
    BOOST_TEST(t.state.running.empty());
    BOOST_TEST(t.state.waiting.empty());
  }
}

}  // namespace
}  // namespace troupe::actors
