#define BOOST_TEST_MODULE registration_machine
#include "net/registration/registration_machine.hpp"

#include <boost/test/unit_test.hpp>

namespace troupe::net {
namespace {

constexpr std::uint64_t page = 4096;

struct fixture {
  explicit fixture(registration_options options) : state(options) {}

  void drive(const registration_event& event) {
    effects.clear();
    step(state, event, effects);
  }

  template <class Effect>
  std::vector<Effect> all() const {
    std::vector<Effect> out;
    for (const auto& effect : effects)
      if (const auto* e = std::get_if<Effect>(&effect)) out.push_back(*e);
    return out;
  }

  template <class Effect>
  Effect one() const {
    const auto found = all<Effect>();
    BOOST_REQUIRE(found.size() == 1u);
    return found.front();
  }

  /// Announced and registered, under its base as key.
  segment_name registered(std::uint64_t base, std::uint64_t bytes) {
    drive(segment_announced{base, bytes});
    drive(range_wanted{next_token++, base, bytes});
    const auto name = one<register_segment>().segment;
    drive(segment_registered{name, base});
    return name;
  }

  registration_state state;
  registration_effects effects;
  std::uint64_t next_token = 1'000'000;
};

BOOST_AUTO_TEST_CASE(a_first_use_is_copied_and_the_next_one_is_not) {
  fixture f({.mode = registration_mode::background});
  f.drive(segment_announced{page, page});
  BOOST_TEST(f.effects.empty());
  f.drive(range_wanted{1, page + 10, 100});
  BOOST_TEST(f.one<use_bounce>().token == 1u);
  const auto asked = f.one<register_segment>();
  BOOST_TEST(asked.bytes == page);
  f.drive(range_wanted{2, page, page});
  BOOST_TEST(f.one<use_bounce>().token == 2u);
  BOOST_TEST(f.all<register_segment>().empty());  // it is under way
  f.drive(segment_registered{asked.segment, 77});
  f.drive(range_wanted{3, page + 10, 100});
  const auto used = f.one<use_registered>();
  BOOST_REQUIRE(used.pieces.size() == 1u);
  BOOST_TEST((used.pieces[0] == registered_piece{asked.segment, 10, 100, 77}));
  BOOST_TEST(f.state.counters.hits_total == 1u);
  BOOST_TEST(f.state.counters.misses_total == 2u);
}

BOOST_AUTO_TEST_CASE(a_lazy_first_use_waits_for_its_registration) {
  fixture f({.mode = registration_mode::lazy});
  f.drive(segment_announced{page, page});
  f.drive(range_wanted{1, page, 10});
  BOOST_TEST(f.all<use_bounce>().empty());
  f.drive(segment_registered{f.one<register_segment>().segment, 5});
  BOOST_TEST(f.one<use_registered>().token == 1u);
}

BOOST_AUTO_TEST_CASE(an_eager_segment_is_registered_when_it_is_announced) {
  fixture f({.mode = registration_mode::eager});
  f.drive(segment_announced{page, page});
  f.drive(segment_registered{f.one<register_segment>().segment, 5});
  f.drive(range_wanted{1, page, 10});
  BOOST_TEST(f.one<use_registered>().pieces.size() == 1u);
}

BOOST_AUTO_TEST_CASE(without_registration_everything_is_copied) {
  fixture f({.mode = registration_mode::none});
  f.drive(segment_announced{page, page});
  f.drive(range_wanted{1, page, 10});
  BOOST_TEST(f.one<use_bounce>().token == 1u);
  BOOST_TEST(f.effects.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_range_over_several_segments_is_used_in_pieces) {
  fixture f({});
  const auto a = f.registered(page, page);
  const auto b = f.registered(2 * page, 2 * page);
  const auto c = f.registered(4 * page, page);
  f.drive(range_wanted{1, page + 100, 3 * page});
  const auto used = f.one<use_registered>();
  BOOST_REQUIRE(used.pieces.size() == 3u);
  BOOST_TEST((used.pieces[0] == registered_piece{a, 100, page - 100, page}));
  BOOST_TEST((used.pieces[1] == registered_piece{b, 0, 2 * page, 2 * page}));
  BOOST_TEST((used.pieces[2] == registered_piece{c, 0, 100, 4 * page}));
}

BOOST_AUTO_TEST_CASE(memory_that_nobody_announced_is_copied) {
  fixture f({});
  f.registered(page, page);
  f.drive(range_wanted{1, page, page + 1});
  BOOST_TEST(f.one<use_bounce>().token == 1u);
  f.drive(range_wanted{2, 0, 10});
  BOOST_TEST(f.one<use_bounce>().token == 2u);
}

BOOST_AUTO_TEST_CASE(a_segment_that_ends_waits_for_its_own_uses_alone) {
  fixture f({});
  const auto a = f.registered(page, page);
  const auto b = f.registered(2 * page, page);
  f.drive(range_wanted{1, page, 10});
  f.drive(range_wanted{2, 2 * page, 10});
  f.drive(segment_ending{2 * page});
  BOOST_TEST(f.all<forget_segment>().empty());
  f.drive(range_done{2});
  BOOST_TEST((f.one<forget_segment>().segment == b));
  f.drive(segment_forgotten{b});
  BOOST_TEST(f.one<report_withdrawn>().base == 2 * page);
  f.drive(segment_ending{page});
  BOOST_TEST(f.effects.empty());
  f.drive(range_done{1});
  BOOST_TEST((f.one<forget_segment>().segment == a));
}

BOOST_AUTO_TEST_CASE(a_segment_ends_at_once_while_others_are_being_registered) {
  fixture f({.at_once = 1});
  f.drive(segment_announced{page, page});
  f.drive(segment_announced{2 * page, page});
  f.drive(segment_announced{3 * page, page});
  f.drive(range_wanted{1, page, 2 * page});  // the first is under way, the second waits
  f.drive(segment_ending{2 * page});
  BOOST_TEST(f.one<report_withdrawn>().base == 2 * page);
  f.drive(segment_ending{3 * page});
  BOOST_TEST(f.one<report_withdrawn>().base == 3 * page);
}

BOOST_AUTO_TEST_CASE(a_segment_that_ends_while_it_is_registered_is_forgotten_right_after) {
  fixture f({});
  f.drive(segment_announced{page, page});
  f.drive(range_wanted{1, page, 10});
  const auto name = f.one<register_segment>().segment;
  f.drive(segment_ending{page});
  BOOST_TEST(f.effects.empty());
  f.drive(segment_registered{name, 9});
  BOOST_TEST(f.one<forget_segment>().key == 9u);
  f.drive(segment_forgotten{name});
  BOOST_TEST(f.one<report_withdrawn>().base == page);
}

BOOST_AUTO_TEST_CASE(an_address_that_came_back_is_another_segment) {
  fixture f({});
  const auto old = f.registered(page, page);
  f.drive(segment_ending{page});
  f.drive(segment_forgotten{old});
  f.drive(segment_announced{page, 2 * page});
  f.drive(range_wanted{1, page, 10});
  BOOST_TEST(f.one<use_bounce>().token == 1u);
  const auto renewed = f.one<register_segment>().segment;
  BOOST_TEST(renewed.generation != old.generation);
  f.drive(segment_registered{old, 1});  // late word about the old life
  f.drive(range_wanted{2, page, 10});
  BOOST_TEST(f.one<use_bounce>().token == 2u);
  BOOST_TEST(f.state.counters.stale_dropped == 1u);
}

BOOST_AUTO_TEST_CASE(a_refused_segment_is_copied_and_those_who_waited_go_on) {
  fixture f({.mode = registration_mode::lazy});
  f.drive(segment_announced{page, page});
  f.drive(range_wanted{1, page, 10});
  f.drive(segment_refused{f.one<register_segment>().segment, {errc::resource_exhausted}});
  BOOST_TEST(f.one<use_bounce>().token == 1u);
  f.drive(range_wanted{2, page, 10});
  BOOST_TEST(f.one<use_bounce>().token == 2u);
  BOOST_TEST(f.all<register_segment>().empty());
  BOOST_TEST(f.state.counters.registered_bytes == 0u);
  BOOST_TEST(f.state.counters.refusals_total == 1u);
}

BOOST_AUTO_TEST_CASE(no_more_is_registered_than_allowed_at_once_and_in_all) {
  fixture f({.bytes_max = 3 * page, .at_once = 2});
  for (std::uint64_t i = 1; i <= 5; ++i)
    f.drive(segment_announced{i * page, page});
  f.drive(range_wanted{1, page, 3 * page});
  BOOST_TEST(f.all<register_segment>().size() == 2u);
  f.drive(segment_registered{f.all<register_segment>()[0].segment, 1});
  BOOST_TEST(f.all<register_segment>().size() == 1u);
  f.drive(range_wanted{2, 4 * page, page});
  BOOST_TEST(f.one<use_bounce>().token == 2u);
  BOOST_TEST(f.all<register_segment>().empty());
  BOOST_TEST(f.state.counters.registered_bytes == 3 * page);
}

BOOST_AUTO_TEST_CASE(a_range_that_waited_for_memory_that_ended_is_told) {
  fixture f({.mode = registration_mode::lazy});
  f.drive(segment_announced{page, page});
  f.drive(range_wanted{1, page, 10});
  f.drive(segment_ending{page});
  BOOST_TEST((f.one<report_unusable>().cause.code == errc::aborted));
}

BOOST_AUTO_TEST_CASE(bad_requests_are_refused_and_change_nothing) {
  fixture f({.mode = registration_mode::lazy, .waiting_max = 1});
  f.registered(page, page);
  const auto refused = [&](const range_wanted& wanted) {
    f.drive(wanted);
    return f.one<report_unusable>().cause.code;
  };
  BOOST_TEST((refused({1, page, 0}) == errc::bad_argument));
  BOOST_TEST((refused({1, ~0ull, 2}) == errc::bad_argument));
  f.drive(range_wanted{1, page, 1});
  BOOST_TEST((refused({1, page, 1}) == errc::bad_argument));
  f.drive(segment_announced{8 * page, page});
  f.drive(range_wanted{2, 8 * page, 1});
  BOOST_TEST((refused({3, 8 * page, 1}) == errc::queue_full));
  f.drive(range_done{99});
  f.drive(segment_announced{page, page});
  f.drive(segment_ending{77});
  BOOST_TEST(f.one<report_withdrawn>().base == 77u);
}

}  // namespace
}  // namespace troupe::net
