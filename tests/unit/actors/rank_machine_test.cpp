#define BOOST_TEST_MODULE rank_machine
#include <boost/test/unit_test.hpp>

#include "actors/rank/rank_machine.hpp"

namespace troupe::actors {
namespace {

constexpr operation_signature reduce_4{operation_kind::all_reduce, data_type::float32,
                                       reduction::sum, 0, 4};
constexpr operation_signature reduce_5{operation_kind::all_reduce, data_type::float32,
                                       reduction::sum, 0, 5};
constexpr operation_signature send_4{operation_kind::send, data_type::float32, reduction::sum, 0,
                                     4};

rank_effects run(rank_state& s, const rank_event& e) {
  rank_effects out;
  step(s, e, out);
  return out;
}

template <class Effect>
const Effect* find(const rank_effects& effects) {
  for (const auto& e : effects)
    if (const auto* hit = std::get_if<Effect>(&e)) return hit;
  return nullptr;
}

rank_state member(std::uint32_t size = 4) {
  rank_state s;
  s.self = rank{1};
  s.size = size;
  return s;
}

BOOST_AUTO_TEST_CASE(collectives_are_numbered_from_one_in_the_order_of_their_calls) {
  auto s = member();
  for (std::uint64_t n = 1; n <= 3; ++n) {
    const auto out = run(s, operation_called{static_cast<std::uint32_t>(n), reduce_4, no_rank});
    BOOST_REQUIRE(find<start_operation>(out) != nullptr);
    BOOST_TEST(find<start_operation>(out)->number.value == n);
  }
}

BOOST_AUTO_TEST_CASE(sends_are_numbered_per_peer_and_apart_from_collectives) {
  auto s = member();
  run(s, operation_called{0, reduce_4, no_rank});
  const auto to_2 = run(s, operation_called{1, send_4, rank{2}});
  const auto to_3 = run(s, operation_called{2, send_4, rank{3}});
  BOOST_TEST(find<start_operation>(to_2)->number.value == (point_to_point_bit | 1));
  BOOST_TEST(find<start_operation>(to_3)->number.value == (point_to_point_bit | 1));
  const auto again = run(s, operation_called{3, reduce_4, no_rank});
  BOOST_TEST(find<start_operation>(again)->number.value == 2u);
}

BOOST_AUTO_TEST_CASE(the_first_failure_stops_all_is_spread_once_and_stays) {
  auto s = member();
  run(s, operation_called{0, reduce_4, no_rank});
  run(s, operation_called{1, reduce_4, no_rank});
  const failure why{error{errc::peer_lost, 0, rank{3}}, "rank 3 is gone"};
  const auto out = run(s, operation_ended{0, why});
  BOOST_REQUIRE(find<stop_operation>(out) != nullptr);
  BOOST_TEST(find<stop_operation>(out)->slot == 1u);
  BOOST_TEST(find<spread_failure>(out) != nullptr);
  const auto second = run(s, failure_heard{{errc::aborted, "later"}});
  BOOST_TEST(second.empty());
  const auto refused = run(s, operation_called{2, reduce_4, no_rank});
  BOOST_REQUIRE(find<refuse_operation>(refused) != nullptr);
  BOOST_TEST((find<refuse_operation>(refused)->why.code() == errc::peer_lost));
}

BOOST_AUTO_TEST_CASE(the_reason_goes_out_before_the_stops_that_follow_from_it) {
  auto s = member();
  run(s, operation_called{0, reduce_4, no_rank});
  const auto out = run(s, abort_called{});
  BOOST_REQUIRE(out.size() == 2u);
  BOOST_TEST(std::holds_alternative<spread_failure>(out[0]));
  BOOST_TEST(std::holds_alternative<stop_operation>(out[1]));
}

BOOST_AUTO_TEST_CASE(a_peer_that_called_something_else_is_a_mismatch_with_both_signatures) {
  auto s = member();
  run(s, operation_called{0, reduce_4, no_rank});
  const auto same = run(s, unmatched_heard{rank{2}, {1}, reduce_4});
  BOOST_TEST(same.empty());
  const auto out = run(s, unmatched_heard{rank{2}, {1}, reduce_5});
  BOOST_REQUIRE(find<stop_operation>(out) != nullptr);
  const auto& why = find<stop_operation>(out)->why;
  BOOST_TEST((why.code() == errc::mismatch));
  BOOST_TEST(why.message.find("count 4") != std::string::npos);
  BOOST_TEST(why.message.find("count 5") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_peer_ahead_of_us_is_compared_when_we_call) {
  auto s = member();
  BOOST_TEST(run(s, unmatched_heard{rank{2}, {1}, reduce_5}).empty());
  const auto out = run(s, operation_called{0, reduce_4, no_rank});
  BOOST_TEST(find<start_operation>(out) != nullptr);
  BOOST_TEST(find<stop_operation>(out) != nullptr);
}

BOOST_AUTO_TEST_CASE(a_send_that_waits_for_its_receive_is_no_mismatch) {
  auto s = member();
  BOOST_TEST(run(s, unmatched_heard{rank{2}, {point_to_point_bit | 1}, send_4}).empty());
}

BOOST_AUTO_TEST_CASE(finalize_waits_for_what_runs_and_refuses_what_comes_later) {
  auto s = member();
  run(s, operation_called{0, reduce_4, no_rank});
  BOOST_TEST(run(s, finalize_called{}).empty());
  BOOST_TEST(find<refuse_operation>(run(s, operation_called{1, reduce_4, no_rank})) != nullptr);
  BOOST_TEST(find<report_finalized>(run(s, operation_ended{0, {}})) != nullptr);
  BOOST_TEST(run(s, member_lost{rank{2}, {errc::peer_lost, "gone"}}).empty());
}

BOOST_AUTO_TEST_CASE(a_member_that_connects_after_the_failure_is_told) {
  auto s = member();
  BOOST_TEST(run(s, member_connected{rank{3}}).empty());
  run(s, abort_called{});
  const auto out = run(s, member_connected{rank{3}});
  BOOST_REQUIRE(find<tell_failure>(out) != nullptr);
  BOOST_TEST((find<tell_failure>(out)->member == rank{3}));
}

BOOST_AUTO_TEST_CASE(memory_of_the_past_is_bounded) {
  auto s = member();
  for (std::uint32_t i = 0; i < 5000; ++i) {
    run(s, operation_called{0, reduce_4, no_rank});
    run(s, operation_ended{0, {}});
    run(s, unmatched_heard{rank{2}, {1'000'000ull + i}, reduce_4});
  }
  BOOST_TEST(s.history.size() <= history_operation_count);
  BOOST_TEST(s.early.size() <= early_transfer_count);
  BOOST_TEST(s.running.empty());
}

BOOST_AUTO_TEST_CASE(the_count_of_a_pair_is_no_difference_between_calls_of_all_to_all_v) {
  constexpr operation_signature called{operation_kind::all_to_all_v, data_type::float32,
                                       reduction::sum, 0, 0};
  auto pair = called;
  pair.count = 17;
  for (const bool early : {false, true}) {
    auto s = member();
    if (early) run(s, unmatched_heard{rank{2}, operation_number{1}, pair});
    run(s, operation_called{0, called, no_rank});
    if (!early) run(s, unmatched_heard{rank{2}, operation_number{1}, pair});
    BOOST_TEST((s.sticky.code() == errc::ok));
    auto other_type = pair;
    other_type.type = data_type::int8;
    run(s, unmatched_heard{rank{2}, operation_number{1}, other_type});
    BOOST_TEST((s.sticky.code() == errc::mismatch));
  }
}

}  // namespace
}  // namespace troupe::actors
