#pragma once

#include <string>

#include "tests/conformance/counted_allocation.hpp"
#include "tests/conformance/lane_world.hpp"

/// What every kind of lane does. A case returns what was wrong, or nothing: so the same function
/// tests a lane and is itself tested against a faulty one.
#define TROUPE_LANE_CASES(X)                                      \
  X(frames_of_both_kinds_arrive_in_the_order_posted)              \
  X(an_immediate_comes_after_its_bytes_are_in_place)              \
  X(every_bit_of_an_immediate_passes)                             \
  X(every_write_completes_once_with_its_context)                  \
  X(a_source_may_change_once_its_write_completed)                 \
  X(empty_writes_and_messages_arrive)                             \
  X(messages_of_every_length_arrive_unchanged)                    \
  X(a_message_beyond_the_longest_ends_the_process)                \
  X(a_large_write_arrives_whole)                                  \
  X(both_directions_work_at_once)                                 \
  X(a_lane_takes_depth_writes_and_then_is_full)                   \
  X(messages_beyond_the_bound_are_refused_and_none_is_lost)       \
  X(many_lanes_do_not_mix)                                        \
  X(a_lane_polled_one_event_at_a_time_says_everything)            \
  X(a_write_to_a_dead_key_is_refused_and_writes_nothing)          \
  X(a_write_that_leaves_its_target_is_refused_and_writes_nothing) \
  X(a_key_withdrawn_in_mid_write_stops_the_write)                 \
  X(a_zombies_write_under_an_old_key_lands_nowhere)               \
  X(a_peer_that_closes_in_mid_write_loses_the_lane_once)          \
  X(a_sender_that_closes_in_mid_write_loses_the_lane_once)        \
  X(a_closed_lane_is_silent_and_its_memory_is_left_alone)         \
  X(messages_posted_before_close_arrive)                          \
  X(a_dial_to_nobody_is_refused)                                  \
  X(a_dial_into_silence_ends_at_its_deadline)                     \
  X(a_cancelled_dial_says_nothing)                                \
  X(a_busy_lane_allocates_nothing)                                \
  X(the_descriptor_to_wait_for_tells_when_to_poll)

namespace troupe::conformance {

using lane_case = std::string (*)(lane_world&);

#define TROUPE_DECLARE_LANE_CASE(name) std::string name(lane_world& world);
TROUPE_LANE_CASES(TROUPE_DECLARE_LANE_CASE)
#undef TROUPE_DECLARE_LANE_CASE

/// More than 4 GiB in one write. Apart from the others: it takes seconds.
std::string a_write_of_more_than_4_gib_arrives_whole(lane_world& world);

}  // namespace troupe::conformance
