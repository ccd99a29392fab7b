#define BOOST_TEST_MODULE link_parts
#include <boost/test/unit_test.hpp>
#include <vector>

#include "net/link/control_stream.hpp"
#include "net/link/eager_slots.hpp"
#include "net/link/lane_set.hpp"
#include "net/link/operation_memory.hpp"
#include "net/link/transfer_table.hpp"

using namespace troupe;
using namespace troupe::net;

namespace {

transfer_id id_of(std::uint32_t step, std::uint64_t operation = 1) {
  return {communicator_id{1}, epoch{0}, operation_number{operation}, step};
}

operation_id operation(std::uint64_t number) {
  return {communicator_id{1}, epoch{0}, operation_number{number}};
}

void open(lane_record& lane, std::uint32_t depth) {
  lane.open = true;
  lane.greeted = true;
  lane.depth = depth;
}

}  // namespace

// -- control stream -------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(the_last_place_is_for_an_acknowledgement_of_something_new) {
  control_stream stream(4, 0);
  for (int i = 0; i < 3; ++i) {
    BOOST_TEST(stream.has_room());
    stream.append(probe_body{});
  }
  BOOST_TEST(!stream.has_room());
  BOOST_TEST(!stream.has_room_to_acknowledge(false));
  BOOST_TEST(stream.has_room_to_acknowledge(true));
  stream.append(acknowledge_body{});
  BOOST_TEST(!stream.has_room_to_acknowledge(true));
}

BOOST_AUTO_TEST_CASE(only_what_was_posted_can_be_acknowledged) {
  control_stream stream(8, 0xfffffffeu);
  for (int i = 0; i < 3; ++i)
    stream.append(probe_body{});
  stream.note_posted();
  BOOST_TEST(!stream.acknowledge(0u));
  BOOST_TEST(stream.acknowledge(0xffffffffu));
  BOOST_TEST(stream.outstanding() == 2u);
  BOOST_TEST(stream.answerable() == 2u);
  BOOST_TEST(stream.has_reached(0xfffffffeu));
  BOOST_TEST(!stream.has_reached(0xffffffffu));
  BOOST_TEST(stream.acknowledge(0xfffffffeu));  // old news
  BOOST_TEST(stream.outstanding() == 2u);
}

BOOST_AUTO_TEST_CASE(on_another_lane_everything_unacknowledged_goes_again) {
  control_stream stream(8, 0);
  for (int i = 0; i < 3; ++i)
    stream.append(probe_body{});
  for (int i = 0; i < 2; ++i) {
    stream.unposted().posted = true;
    stream.note_posted();
  }
  stream.acknowledge(1);
  stream.move();
  BOOST_TEST(stream.unposted_number() == 1u);
  BOOST_TEST(stream.unposted().posted_elsewhere);
  stream.note_posted();
  BOOST_TEST(!stream.unposted().posted_elsewhere);
  // The peer may acknowledge what it got on the old lane before the repetition is posted.
  stream.move();
  BOOST_TEST(stream.acknowledge(2));
  BOOST_TEST(stream.unposted_number() == 2u);
}

BOOST_AUTO_TEST_CASE(the_peers_messages_are_taken_once_and_in_order) {
  using verdict = control_stream::verdict;
  control_stream stream(8, 0xffffffffu);
  BOOST_TEST((stream.receive(0u) == verdict::gap));
  BOOST_TEST((stream.receive(0xffffffffu) == verdict::fresh));
  BOOST_TEST((stream.receive(0xffffffffu) == verdict::duplicate));
  BOOST_TEST((stream.receive(0u) == verdict::fresh));
  BOOST_TEST(stream.expected() == 1u);
}

// -- eager slots ----------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(credit_slots_go_round_and_wait_for_the_peer_and_for_the_lane) {
  eager_sender sender;
  sender.credit_count = 2;
  BOOST_TEST(sender.take_slot() == 0u);
  BOOST_TEST(sender.take_slot() == 1u);
  BOOST_TEST(!sender.has_credit());
  sender.staged = 1;
  BOOST_TEST(sender.give_back(1));
  BOOST_TEST(!sender.has_credit());  // a lane still reads the staging slot
  sender.staged = 0;
  BOOST_TEST(sender.has_credit());
  BOOST_TEST(!sender.give_back(3));  // more than were sent
  BOOST_TEST(sender.give_back(0));   // old news
  BOOST_TEST(sender.take_slot() == 0u);
}

BOOST_AUTO_TEST_CASE(slots_are_given_back_in_order_of_use) {
  eager_receiver receiver(4, 1);
  for (std::uint32_t slot = 0; slot < 3; ++slot)
    BOOST_TEST(receiver.occupy(slot));
  receiver.empty(1);
  BOOST_TEST(receiver.consumed() == 0u);
  receiver.empty(0);
  BOOST_TEST(receiver.consumed() == 2u);
  BOOST_TEST(!receiver.occupy(2));  // still there
  receiver.empty(2);
  BOOST_TEST(receiver.consumed() == 3u);
  BOOST_TEST(receiver.all_free());
}

BOOST_AUTO_TEST_CASE(a_granted_slot_takes_one_message_per_grant) {
  eager_receiver receiver(4, 1);
  BOOST_TEST(!receiver.occupy(3));
  std::uint8_t slot = 0;
  BOOST_TEST(receiver.take_granted(slot));
  BOOST_TEST(slot == 3);
  BOOST_TEST(!receiver.take_granted(slot));
  BOOST_TEST(receiver.decline(3));
  BOOST_TEST(!receiver.decline(3));
  BOOST_TEST(receiver.take_granted(slot));
  BOOST_TEST(receiver.occupy(3));
  receiver.empty(3);
  BOOST_TEST(receiver.all_free());
  BOOST_TEST(receiver.consumed() == 0u);
}

// -- transfers ------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(a_transfer_is_found_by_id_and_side_until_it_is_hidden) {
  transfer_table table(4, 2);
  const auto put = table.add(id_of(1), transfer_side::put);
  const auto accept = table.add(id_of(1), transfer_side::accept);
  BOOST_TEST(table.find(id_of(1), transfer_side::put) == put);
  BOOST_TEST(table.find(id_of(1), transfer_side::accept) == accept);
  BOOST_TEST(table.find(id_of(2), transfer_side::put) == no_index);
  table.hide(put);
  BOOST_TEST(table.find(id_of(1), transfer_side::put) == no_index);
  table.remove(put);
  BOOST_TEST(table.live_count() == 1u);
  BOOST_TEST(table.add(id_of(3), transfer_side::put) == put);
}

BOOST_AUTO_TEST_CASE(the_owner_and_the_peer_have_their_own_shares_of_the_table) {
  transfer_table table(3, 2);
  BOOST_TEST(!table.early_full());
  table.add(id_of(1), transfer_side::put);
  BOOST_TEST(table.early_full());
  for (std::uint32_t step : {2u, 3u}) {
    BOOST_TEST(!table.local_full());
    table.make_local(table.add(id_of(step), transfer_side::put));
  }
  BOOST_TEST(table.local_full());
}

BOOST_AUTO_TEST_CASE(chains_keep_their_order_and_a_transfer_is_in_one_of_them) {
  transfer_table table(8, 8);
  std::vector<std::uint32_t> indices;
  for (std::uint32_t i = 0; i < 4; ++i) {
    indices.push_back(table.add(id_of(i), transfer_side::put));
    table.move_to(transfer_list::starved, indices.back());
  }
  table.move_to(transfer_list::queued, indices[1]);
  BOOST_TEST(table.count(transfer_list::starved) == 3u);
  BOOST_TEST(table.first(transfer_list::starved) == indices[0]);
  BOOST_TEST(table.next_in_list(indices[0]) == indices[2]);
  BOOST_TEST(table.first(transfer_list::queued) == indices[1]);
  table.move_to(transfer_list::starved, indices[0]);  // to the end
  BOOST_TEST(table.last(transfer_list::starved) == indices[0]);
  table.tell(transfer_notice::request, indices[3]);
  table.tell(transfer_notice::release, indices[2]);
  BOOST_TEST(table.first_for_peer() == indices[3]);
  BOOST_TEST(table.first_for_owner() == indices[2]);
  table.untell(indices[3]);
  BOOST_TEST(table.first_for_peer() == no_index);
}

// -- memory of what is over -----------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(the_floor_of_an_epoch_only_rises) {
  operation_memory memory;
  BOOST_TEST(!memory.is_below_floor(communicator_id{1}, epoch{0}));
  memory.raise_floor(communicator_id{1}, epoch{3});
  memory.raise_floor(communicator_id{1}, epoch{2});
  BOOST_TEST(memory.is_below_floor(communicator_id{1}, epoch{2}));
  BOOST_TEST(!memory.is_below_floor(communicator_id{1}, epoch{3}));
  BOOST_TEST(!memory.is_below_floor(communicator_id{2}, epoch{0}));
}

BOOST_AUTO_TEST_CASE(the_last_cancelled_operations_are_remembered_by_who_cancelled_them) {
  operation_memory memory;
  memory.note_cancelled(operation(1), true);
  memory.note_cancelled(operation(2), false);
  memory.note_cancelled(operation(1), false);
  BOOST_TEST(memory.cancelled_here(operation(1)));
  BOOST_TEST(memory.cancelled_by_peer(operation(1)));
  BOOST_TEST(!memory.cancelled_here(operation(2)));
  for (std::uint64_t n = 1000; n < 3000; ++n)
    memory.note_cancelled(operation(n), true);
  BOOST_TEST(!memory.cancelled_here(operation(1)));  // bounded: the oldest go
  BOOST_TEST(memory.cancelled_here(operation(2999)));
}

BOOST_AUTO_TEST_CASE(cancellations_to_tell_are_kept_in_order_within_a_bound) {
  operation_memory memory;
  for (std::uint64_t n = 0; n < 256; ++n)
    BOOST_TEST(memory.tell(operation(n)));
  BOOST_TEST(!memory.tell(operation(256)));
  BOOST_TEST((memory.first_to_tell().value() == operation(1)));
  memory.told_first();
  BOOST_TEST((memory.first_to_tell().value() == operation(2)));
}

// -- lanes ----------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(segments_take_turns_and_spare_the_control_lane) {
  lane_set lanes;
  lanes.count = 3;
  for (std::uint8_t lane = 0; lane < 3; ++lane) {
    open(lanes[lane], 1);
  }
  BOOST_TEST(lanes.pick_for_eager() == 0);
  const lane_limits limits{100, 1000};
  BOOST_TEST(lanes.pick_for_data(limits) == 1);
  BOOST_TEST(lanes.pick_for_data(limits) == 2);
  lanes[1].writes_in_flight = 1;
  BOOST_TEST(lanes.pick_for_data(limits) == 2);
  lanes[2].writes_in_flight = 1;
  BOOST_TEST(lanes.pick_for_data(limits) == no_lane);  // full is not dead
  lanes[1].open = false;
  lanes[2].awaiting_fence = true;
  BOOST_TEST(lanes.pick_for_data(limits) == 0);
}

BOOST_AUTO_TEST_CASE(a_lane_at_the_limit_of_its_tier_is_skipped_until_a_completion) {
  lane_set lanes;
  lanes.count = 3;
  for (std::uint8_t lane = 0; lane < 3; ++lane)
    open(lanes[lane], 32);
  const lane_limits limits{2, 1000};
  lanes[1].writes_in_flight = 2;
  lanes[1].bytes_in_flight = 20;
  lanes[2].writes_in_flight = 1;
  lanes[2].bytes_in_flight = 999;
  BOOST_TEST(lanes.pick_for_data(limits) == 2);
  lanes[2].bytes_in_flight = 1000;
  BOOST_TEST(lanes.pick_for_data(limits) == no_lane);
  lanes[1].writes_in_flight = 1;
  BOOST_TEST(lanes.pick_for_data(limits) == 1);
}
