#define BOOST_TEST_MODULE net_membership_machine
#include <boost/test/unit_test.hpp>

#include "net/membership/membership_machine.hpp"

using namespace troupe;
using namespace troupe::net;

namespace {

constexpr communicator_id some_communicator{1};

membership_state member_of(std::uint32_t self, std::uint32_t size) {
  return make_member(some_communicator, {self}, first_epoch(size), {});
}

membership_effects do_step(membership_state& state, const membership_event& event) {
  membership_effects out;
  step(state, event, instant{}, out);
  return out;
}

template <class Effect>
std::vector<Effect> all(const membership_effects& effects) {
  std::vector<Effect> out;
  for (const auto& one : effects)
    if (const auto* found = std::get_if<Effect>(&one)) out.push_back(*found);
  return out;
}

membership_frame_received from(std::uint32_t sender, ballot in, membership_body body,
                               epoch of = {}) {
  return {{sender},
          {.communicator = some_communicator,
           .epoch = of,
           .sender = {sender},
           .in = in,
           .body = std::move(body)}};
}

/// Rank 0 of `size`, leading its first ballot, its epoch closed.
membership_state leader_of_a_ballot(std::uint32_t size) {
  auto state = member_of(0, size);
  do_step(state, member_suspected{{size - 1}});
  do_step(state, epoch_closed{});
  return state;
}

report_frame report_of(const operation_progress& progress) {
  report_frame out;
  out.progress = progress;
  return out;
}

constexpr ballot first_ballot{1, {0}};

bool fire(membership_state& state, membership_timer timer, membership_effects& out) {
  const auto slot = state.timers[static_cast<std::size_t>(timer)];
  out = do_step(state, membership_timer_fired{timer, slot.generation});
  return slot.armed;
}

}  // namespace

BOOST_AUTO_TEST_CASE(half_of_the_voters_are_no_quorum_and_more_are) {
  const auto state = member_of(0, 4);
  BOOST_TEST(!is_quorum(state, {{0}, {1}}));
  BOOST_TEST(is_quorum(state, {{0}, {1}, {2}}));
}

BOOST_AUTO_TEST_CASE(one_that_is_left_is_a_quorum_if_all_others_are_proven_dead) {
  auto state = member_of(1, 3);
  do_step(state, member_ended{{0}});
  BOOST_TEST(!is_quorum(state, {{1}}));
  do_step(state, member_ended{{2}});
  BOOST_TEST(is_quorum(state, {{1}}));
}

BOOST_AUTO_TEST_CASE(guests_do_not_count_and_cannot_be_left_out_by_proofs) {
  auto record = first_epoch(3);
  record.guests = {{2}};
  auto state = make_member(some_communicator, {0}, record, {});
  BOOST_TEST(!is_quorum(state, {{0}, {2}}));
  BOOST_TEST(is_quorum(state, {{0}, {1}}));
  state.dead = {{1}};
  BOOST_TEST(!is_quorum(state, {{0}}));
  BOOST_TEST(is_quorum(state, {{0}, {2}}));
  state.dead = {{0}, {1}};
  BOOST_TEST(!is_quorum(state, {{2}}));
}

BOOST_AUTO_TEST_CASE(a_suspicion_closes_the_epoch_of_the_leader_and_asks_everybody) {
  auto state = member_of(0, 3);
  const auto effects = do_step(state, member_suspected{{2}});
  BOOST_TEST(all<close_epoch>(effects).size() == 1u);
  BOOST_TEST(all<send_membership>(effects).size() == 2u);
  BOOST_TEST((state.phase == membership_phase::closing));
}

BOOST_AUTO_TEST_CASE(a_member_that_does_not_lead_tells_who_does) {
  auto state = member_of(1, 3);
  const auto sent = all<send_membership>(do_step(state, member_suspected{{2}}));
  BOOST_REQUIRE(sent.size() == 1u);
  BOOST_TEST((sent[0].to == member_id{0}));
  BOOST_TEST(std::holds_alternative<alarm_frame>(sent[0].frame.body));
  BOOST_TEST((state.phase == membership_phase::open));
}

BOOST_AUTO_TEST_CASE(nobody_reports_before_its_epoch_is_closed) {
  auto state = member_of(1, 3);
  const auto asked = do_step(state, from(0, first_ballot, prepare_frame{}));
  BOOST_TEST(all<send_membership>(asked).empty());
  const auto sent = all<send_membership>(do_step(state, epoch_closed{{.completed_through = 4}}));
  BOOST_REQUIRE(sent.size() == 1u);
  const auto* report = std::get_if<report_frame>(&sent[0].frame.body);
  BOOST_REQUIRE(report != nullptr);
  BOOST_TEST(report->progress.completed_through == 4u);
}

BOOST_AUTO_TEST_CASE(one_that_is_only_accused_is_given_time_to_answer) {
  auto state = leader_of_a_ballot(3);
  do_step(state, from(1, first_ballot, report_frame{}));
  BOOST_TEST(!state.leading->proposal.has_value());
  membership_effects out;
  BOOST_TEST(fire(state, membership_timer::patience, out));
  BOOST_REQUIRE(state.leading->proposal.has_value());
  BOOST_TEST((state.leading->proposal->members == member_list{{0}, {1}}));
  BOOST_TEST((state.leading->proposal->unproven == member_list{{2}}));
}

BOOST_AUTO_TEST_CASE(what_the_slowest_member_completed_is_decided) {
  auto state = member_of(0, 3);
  do_step(state, decision_needed{});
  do_step(state, epoch_closed{{.completed_through = 6, .called_through = 9}});
  do_step(state, from(1, first_ballot, report_of({5, 7, errc::timed_out})));
  do_step(state, from(2, first_ballot, report_of({5, 6, errc::ok})));
  BOOST_REQUIRE(state.leading->proposal.has_value());
  const operation_progress expected{5, 9, errc::timed_out};
  BOOST_TEST((state.leading->proposal->decided == expected));
}

BOOST_AUTO_TEST_CASE(a_proposal_that_may_be_decided_is_taken_over) {
  auto state = leader_of_a_ballot(3);
  auto other = first_epoch(2);
  other.number = {1};
  other.next_member = {3};
  do_step(state, from(1, first_ballot, report_frame{.accepted_in = {1, {2}}, .accepted = other}));
  do_step(state, from(2, first_ballot, report_frame{}));
  BOOST_REQUIRE(state.leading->proposal.has_value());
  BOOST_TEST((*state.leading->proposal == other));
}

BOOST_AUTO_TEST_CASE(a_decision_is_entered_and_spread_once_a_majority_accepted_it) {
  auto state = leader_of_a_ballot(3);
  do_step(state, from(1, first_ballot, report_frame{}));
  do_step(state, from(2, first_ballot, report_frame{}));
  const auto effects = do_step(state, from(1, first_ballot, accept_frame{}));
  BOOST_TEST(all<enter_epoch>(effects).size() == 1u);
  BOOST_TEST(all<send_membership>(effects).size() == 2u);
  BOOST_TEST((state.current.number == epoch{1}));
  BOOST_TEST((state.phase == membership_phase::open));
}

BOOST_AUTO_TEST_CASE(a_decision_of_a_superseded_ballot_changes_nothing) {
  auto state = member_of(1, 3);
  do_step(state, from(2, {5, {2}}, prepare_frame{}));
  do_step(state, epoch_closed{});
  auto next = first_epoch(3);
  next.number = {1};
  do_step(state, from(0, first_ballot, commit_frame{next}, {1}));
  BOOST_TEST((state.current.number == epoch{0}));
  do_step(state, from(2, {5, {2}}, commit_frame{next}, {1}));
  BOOST_TEST((state.current.number == epoch{1}));
}

BOOST_AUTO_TEST_CASE(one_that_is_left_out_is_evicted_and_says_so) {
  auto state = member_of(2, 3);
  auto next = first_epoch(2);
  next.number = {1};
  next.next_member = {3};
  const auto effects = do_step(state, from(0, first_ballot, commit_frame{next}, {1}));
  const auto left = all<leave_communicator>(effects);
  BOOST_REQUIRE(left.size() == 1u);
  BOOST_TEST((left[0].why == errc::evicted));
  BOOST_TEST(all<send_membership>(effects).size() == 2u);
}

BOOST_AUTO_TEST_CASE(one_that_hears_nobody_ends_without_a_quorum) {
  auto state = leader_of_a_ballot(3);
  membership_effects out;
  fire(state, membership_timer::patience, out);
  BOOST_TEST((state.phase == membership_phase::deciding));
  fire(state, membership_timer::decision, out);
  BOOST_REQUIRE(all<leave_communicator>(out).size() == 1u);
  BOOST_TEST((all<leave_communicator>(out)[0].why == errc::no_quorum));
}

BOOST_AUTO_TEST_CASE(forged_frames_and_unknown_tokens_change_nothing_and_are_counted) {
  auto state = member_of(1, 3);
  auto forged = from(0, first_ballot, prepare_frame{});
  forged.from = {2};  // the link knows better than the frame
  do_step(state, forged);
  do_step(state, from(2, first_ballot, prepare_frame{}));  // a ballot of another leader
  auto stranger = from(9, {1, {9}}, prepare_frame{});
  do_step(state, stranger);
  do_step(state, from(no_member.value, {}, join_frame{77}));
  BOOST_TEST((state.phase == membership_phase::open));
  BOOST_TEST(state.counters.foreign_frames == 4u);
}

BOOST_AUTO_TEST_CASE(a_rank_with_a_token_comes_in_as_a_new_member_that_does_not_vote_yet) {
  auto state = member_of(0, 1);
  do_step(state, token_issued{5});
  const auto asked = do_step(state, from(no_member.value, {}, join_frame{5}));
  BOOST_TEST(all<close_epoch>(asked).size() == 1u);
  const auto effects = do_step(state, epoch_closed{});
  BOOST_TEST((state.current.members == member_list{{0}, {1}}));
  BOOST_TEST((state.current.guests == member_list{{1}}));
  BOOST_REQUIRE(all<send_to_joiner>(effects).size() == 1u);
  auto joiner = make_joiner(some_communicator, 5, {});
  do_step(joiner, membership_frame_received{{0}, all<send_to_joiner>(effects)[0].frame});
  BOOST_TEST((joiner.self == member_id{1}));
  BOOST_TEST((joiner.phase == membership_phase::open));
}

BOOST_AUTO_TEST_CASE(a_replaced_timer_is_not_obeyed) {
  auto state = leader_of_a_ballot(3);
  const auto slot = state.timers[static_cast<std::size_t>(membership_timer::decision)];
  const auto out =
      do_step(state, membership_timer_fired{membership_timer::decision, slot.generation - 1});
  BOOST_TEST(out.empty());
  BOOST_TEST(state.counters.stale_timers == 1u);
}
