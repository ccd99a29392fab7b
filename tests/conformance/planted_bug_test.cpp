#define BOOST_TEST_MODULE conformance_planted_bug
#include <boost/test/unit_test.hpp>

#include <set>
#include <vector>

#include "tests/conformance/faulty_lane.hpp"
#include "tests/conformance/lane_cases.hpp"
#include "tests/conformance/lane_worlds.hpp"

namespace troupe::conformance {

namespace {

using bug = lane_bug;

struct planted_case {
  lane_case run;
  const char* name;
  std::vector<planted_bug> bugs;
};

#define TROUPE_CASE(name) &name, #name

// Which bugs each case is there to see: cases about what a lane carries.
const std::vector<planted_case>& planted_carrying_cases() {
  static const std::vector<planted_case> cases{
      {TROUPE_CASE(frames_of_both_kinds_arrive_in_the_order_posted),
       {{bug::drops_write, 40},
        {bug::drops_message, 90},
        {bug::swaps_two_frames, 30},
        {bug::repeats_write, 20},
        {bug::repeats_message, 20},
        {bug::corrupts_write, 50},
        {bug::corrupts_message, 50}}},
      {TROUPE_CASE(an_immediate_comes_after_its_bytes_are_in_place),
       {{bug::tells_before_bytes_are_there, 3}, {bug::corrupts_write, 5}}},
      {TROUPE_CASE(every_bit_of_an_immediate_passes), {{bug::clears_top_bit_of_immediates}}},
      {TROUPE_CASE(every_write_completes_once_with_its_context),
       {{bug::loses_completion, 150}, {bug::repeats_completion, 20}, {bug::changes_context, 77}}},
      {TROUPE_CASE(a_source_may_change_once_its_write_completed),
       {{bug::completes_before_reading}}},
      {TROUPE_CASE(empty_writes_and_messages_arrive), {{bug::drops_empty_frames}}},
      {TROUPE_CASE(messages_of_every_length_arrive_unchanged),
       {{bug::corrupts_message, 1024}, {bug::drops_message, 1}}},
      {TROUPE_CASE(a_message_beyond_the_longest_ends_the_process),
       {{bug::truncates_long_messages}}},
      {TROUPE_CASE(a_large_write_arrives_whole),
       {{bug::corrupts_write}, {bug::tells_before_bytes_are_there}, {bug::loses_completion}}},
      {TROUPE_CASE(both_directions_work_at_once),
       {{bug::drops_write, 9}, {bug::corrupts_write, 16}}},
      {TROUPE_CASE(a_lane_takes_depth_writes_and_then_is_full),
       {{bug::takes_more_than_depth},
        {bug::is_full_too_early, 64},
        {bug::takes_what_it_refuses},
        {bug::forgets_what_it_takes_when_full},
        {bug::drops_write, 100}}},
      {TROUPE_CASE(messages_beyond_the_bound_are_refused_and_none_is_lost),
       {{bug::forgets_what_it_takes_when_full}, {bug::stays_full}, {bug::drops_message, 10}}},
      {TROUPE_CASE(many_lanes_do_not_mix), {{bug::mixes_two_lanes}}},
      {TROUPE_CASE(a_lane_polled_one_event_at_a_time_says_everything), {{bug::announces_once}}},
      {TROUPE_CASE(a_busy_lane_allocates_nothing), {{bug::allocates}}},
  };
  return cases;
}

// The same for keys, ends and dials.
const std::vector<planted_case>& planted_end_cases() {
  static const std::vector<planted_case> cases{
      {TROUPE_CASE(a_write_to_a_dead_key_is_refused_and_writes_nothing),
       {{bug::shows_refused_as_arrived},
        {bug::shows_refused_as_arrived, 4},
        {bug::writes_though_refused},
        {bug::dies_of_a_refusal},
        {bug::forgets_refusals},
        {bug::drops_write, 3}}},
      {TROUPE_CASE(a_zombies_write_under_an_old_key_lands_nowhere),
       {{bug::shows_refused_as_arrived}, {bug::writes_though_refused, 2}, {bug::forgets_refusals}}},
      {TROUPE_CASE(a_write_that_leaves_its_target_is_refused_and_writes_nothing),
       {{bug::shows_refused_as_arrived, 3}, {bug::writes_though_refused, 2}}},
      {TROUPE_CASE(a_key_withdrawn_in_mid_write_stops_the_write),
       {{bug::shows_refused_as_arrived},
        {bug::writes_though_refused},
        {bug::dies_of_a_refusal},
        {bug::forgets_refusals}}},
  };
  return cases;
}

// Cases about how lanes and dials end.
const std::vector<planted_case>& planted_ending_cases() {
  static const std::vector<planted_case> cases{
      {TROUPE_CASE(a_peer_that_closes_in_mid_write_loses_the_lane_once),
       {{bug::hides_its_end},
        {bug::ends_twice},
        {bug::speaks_after_its_end},
        {bug::ends_without_cause},
        {bug::takes_after_its_end}}},
      {TROUPE_CASE(a_sender_that_closes_in_mid_write_loses_the_lane_once),
       {{bug::hides_its_end}, {bug::ends_twice}, {bug::speaks_after_its_end}}},
      {TROUPE_CASE(a_closed_lane_is_silent_and_its_memory_is_left_alone),
       {{bug::speaks_after_close}, {bug::writes_after_close}}},
      {TROUPE_CASE(messages_posted_before_close_arrive),
       {{bug::drops_the_last_message_on_close}, {bug::hides_its_end}}},
      {TROUPE_CASE(a_dial_to_nobody_is_refused),
       {{bug::hides_failed_dials},
        {bug::repeats_failed_dials},
        {bug::changes_dial_context},
        {bug::changes_dial_cause},
        {bug::says_failed_dials_late}}},
      {TROUPE_CASE(a_dial_into_silence_ends_at_its_deadline),
       {{bug::hides_failed_dials},
        {bug::repeats_failed_dials},
        {bug::ends_dials_early},
        {bug::forgets_dial_deadlines},
        {bug::changes_dial_cause}}},
      {TROUPE_CASE(a_cancelled_dial_says_nothing), {{bug::ignores_cancel}}},
  };
  return cases;
}

const std::vector<planted_case>& planted_cases() {
  static const auto cases = [] {
    auto all = planted_carrying_cases();
    const auto& ends = planted_ending_cases();
    all.insert(all.end(), ends.begin(), ends.end());
    return all;
  }();
  return cases;
}

// What only a kind with a descriptor shows.
const std::vector<planted_case>& planted_socket_cases() {
  static const std::vector<planted_case> cases{
      {TROUPE_CASE(the_descriptor_to_wait_for_tells_when_to_poll),
       {{bug::waits_on_a_deaf_descriptor}, {bug::waits_on_a_noisy_descriptor}}},
      {TROUPE_CASE(a_key_withdrawn_in_mid_write_stops_the_write),
       {{bug::shows_refused_as_arrived}, {bug::writes_though_refused}, {bug::dies_of_a_refusal}}},
      {TROUPE_CASE(messages_posted_before_close_arrive), {{bug::drops_the_last_message_on_close}}},
      {TROUPE_CASE(a_source_may_change_once_its_write_completed),
       {{bug::completes_before_reading}}},
  };
  return cases;
}

// What a kind with rings, bells and pulled sources could have of its own.
const std::vector<planted_case>& planted_shared_memory_cases() {
  static const std::vector<planted_case> cases{
      {TROUPE_CASE(the_descriptor_to_wait_for_tells_when_to_poll),
       {{bug::waits_on_a_deaf_descriptor}, {bug::waits_on_a_noisy_descriptor}}},
      {TROUPE_CASE(a_source_may_change_once_its_write_completed),
       {{bug::completes_before_reading}}},
      {TROUPE_CASE(a_large_write_arrives_whole),
       {{bug::tells_before_bytes_are_there}, {bug::corrupts_write}}},
      {TROUPE_CASE(a_lane_takes_depth_writes_and_then_is_full),
       {{bug::takes_more_than_depth}, {bug::is_full_too_early, 32}, {bug::loses_completion, 20}}},
      {TROUPE_CASE(a_key_withdrawn_in_mid_write_stops_the_write),
       {{bug::shows_refused_as_arrived}, {bug::writes_though_refused}, {bug::dies_of_a_refusal}}},
      {TROUPE_CASE(a_closed_lane_is_silent_and_its_memory_is_left_alone),
       {{bug::speaks_after_close}, {bug::writes_after_close}}},
      {TROUPE_CASE(messages_posted_before_close_arrive), {{bug::drops_the_last_message_on_close}}},
      {TROUPE_CASE(a_lane_polled_one_event_at_a_time_says_everything), {{bug::announces_once}}},
  };
  return cases;
}

std::string run_on_fabric(lane_case run, planted_bug bug) {
  fabric_lane_world world;
  faulty_world faulty(world, bug);
  return run(faulty);
}

std::string run_on_tcp(lane_case run, planted_bug bug) {
  tcp_lane_world world("127.0.0.1");
  faulty_world faulty(world, bug);
  return run(faulty);
}

std::string run_on_shm(lane_case run, planted_bug bug) {
  shm_lane_world world("pull");
  faulty_world faulty(world, bug);
  return run(faulty);
}

void expect_seen(const std::vector<planted_case>& cases,
                 std::string (*run)(lane_case, planted_bug)) {
  for (const auto& entry : cases)
    for (const auto& bug : entry.bugs)
      BOOST_TEST_CONTEXT(entry.name << ", bug " << static_cast<int>(bug.what)) {
        const auto verdict = run(entry.run, bug);
        BOOST_TEST_MESSAGE(entry.name << ", bug " << static_cast<int>(bug.what) << ": " << verdict);
        BOOST_TEST(verdict != "");
      }
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_wrapper_without_a_bug_passes_every_case) {
  for (const auto* cases : {&planted_cases(), &planted_end_cases()})
    for (const auto& entry : *cases)
      BOOST_TEST_CONTEXT(entry.name) BOOST_TEST(run_on_fabric(entry.run, {}) == "");
}

BOOST_AUTO_TEST_CASE(every_case_sees_the_bugs_it_is_there_for) {
  expect_seen(planted_cases(), run_on_fabric);
  expect_seen(planted_end_cases(), run_on_fabric);
}

BOOST_AUTO_TEST_CASE(cases_about_sockets_see_bugs_on_sockets) {
  expect_seen(planted_socket_cases(), run_on_tcp);
}

BOOST_AUTO_TEST_CASE(cases_about_shared_memory_see_bugs_there) {
  for (const auto& entry : planted_shared_memory_cases())
    BOOST_TEST_CONTEXT(entry.name) BOOST_TEST(run_on_shm(entry.run, {}) == "");
  expect_seen(planted_shared_memory_cases(), run_on_shm);
}

BOOST_AUTO_TEST_CASE(no_case_and_no_bug_is_without_the_other) {
  std::set<std::string> with_bugs;
  std::set<lane_bug> seen;
  for (const auto* cases : {&planted_cases(), &planted_end_cases(), &planted_socket_cases()})
    for (const auto& entry : *cases) {
      with_bugs.insert(entry.name);
      for (const auto& bug : entry.bugs)
        seen.insert(bug.what);
    }
#define TROUPE_CHECK_CASE(name) BOOST_TEST(with_bugs.count(#name) == 1u, #name);
  TROUPE_LANE_CASES(TROUPE_CHECK_CASE)
#undef TROUPE_CHECK_CASE
  for (int i = 1; i <= static_cast<int>(lane_bug::waits_on_a_noisy_descriptor); ++i)
    BOOST_TEST(seen.count(static_cast<lane_bug>(i)) == 1u, "bug " << i);
}

}  // namespace troupe::conformance
