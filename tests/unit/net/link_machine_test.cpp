#define BOOST_TEST_MODULE link_machine
#include "tests/unit/net/link_fixture.hpp"

using namespace troupe;
using namespace troupe::net;
using namespace troupe::net::test;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_CASE(nothing_but_a_hello_leaves_before_the_peer_said_hello) {
  fixture f;
  f.drive(put_requested{id_of(1), signature, memory(8), 1});
  BOOST_TEST(f.all<post_segment>().empty());
  f.drive(lane_opened{0, 64});
  BOOST_TEST(f.said<hello_body>().size() == 1u);
  BOOST_TEST(f.all<post_segment>().empty());
  f.hear(0, f.hello(0));
  BOOST_TEST(f.all<post_segment>().size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_small_put_is_staged_posted_and_reported_in_one_step) {
  fixture f;
  f.connect();
  f.drive(put_requested{id_of(1), signature, memory(100), 42});
  const auto staged = f.one<stage_eager>();
  const auto header = decode_eager_header(staged.header);
  BOOST_REQUIRE(header.has_value());
  BOOST_TEST((header->id == id_of(1)));
  BOOST_TEST(header->payload_bytes == 100u);
  const auto posted = f.one<post_segment>();
  BOOST_TEST(posted.write.source.bytes == eager_header_bytes + 100);
  BOOST_TEST(posted.write.target.key == eager_key);
  BOOST_TEST(decode_immediate(posted.write.immediate).fast);
  BOOST_TEST(f.one<report_put>().token == 42u);
  BOOST_TEST((f.one<report_put>().failed.code == errc::ok));
}

BOOST_AUTO_TEST_CASE(a_large_put_goes_in_segments_and_the_last_one_notifies) {
  fixture f;
  f.connect();
  f.drive(put_requested{id_of(1), signature, memory(large + 1), 42});
  BOOST_TEST(f.all<post_segment>().empty());
  f.hear(0, ready_body{id_of(1), signature, large + 1, 77});
  BOOST_TEST(f.said<begin_body>().size() == 1u);
  BOOST_TEST(f.one<request_budget>().bytes == f.state->options.budget_lease_bytes);
  f.drive(budget_granted{8 << 20});
  const auto posted = f.all<post_segment>();
  BOOST_REQUIRE(posted.size() == 5u);
  std::uint64_t offset = 0;
  for (std::size_t i = 0; i < posted.size(); ++i) {
    BOOST_TEST(posted[i].write.target.key == 77u);
    BOOST_TEST(posted[i].write.target.offset == offset);
    BOOST_TEST(decode_immediate(posted[i].write.immediate).notify == (i == 4));
    offset += posted[i].write.source.bytes;
  }
  BOOST_TEST(offset == large + 1);
  for (const auto& p : posted)
    f.drive(write_finished{p.lane, p.write.context});
  BOOST_TEST(f.all<report_put>().empty());
  control_header header;
  header.control_acknowledged = f.state->control.unposted_number();
  header.data_acknowledged = sequence{5};
  f.hear(0, acknowledge_body{}, header);
  BOOST_TEST(f.one<report_put>().token == 42u);
}

BOOST_AUTO_TEST_CASE(a_put_is_not_reported_while_a_lane_may_read_its_source) {
  fixture f;
  f.connect();
  f.drive(put_requested{id_of(1), signature, memory(large / 8 + 20000), 42});
  f.hear(0, ready_body{id_of(1), signature, large / 8 + 20000, 77});
  f.drive(budget_granted{8 << 20});
  const auto posted = f.one<post_segment>();
  control_header header;
  header.control_acknowledged = f.state->control.unposted_number();
  header.data_acknowledged = sequence{1};
  f.hear(0, acknowledge_body{}, header);
  BOOST_TEST(f.all<report_put>().empty());
  f.drive(write_finished{posted.lane, posted.write.context});
  BOOST_TEST(f.one<report_put>().token == 42u);
}

BOOST_AUTO_TEST_CASE(transfers_beyond_four_gigabytes_keep_their_offsets) {
  link_options o;
  o.segment_bytes = 1ull << 30;
  fixture f(o);
  f.connect();
  const std::uint64_t bytes = (5ull << 30) + 3;
  f.drive(put_requested{id_of(1), signature, memory(bytes), 1});
  f.hear(0, ready_body{id_of(1), signature, bytes, 77});
  f.drive(budget_granted{bytes});
  const auto posted = f.all<post_segment>();
  BOOST_REQUIRE(posted.size() == 6u);
  BOOST_TEST(posted.back().write.target.offset == 5ull << 30);
  BOOST_TEST(posted.back().write.source.bytes == 3u);
}

BOOST_AUTO_TEST_CASE(an_early_message_is_parked_and_comes_out_when_its_accept_does) {
  fixture f;
  f.connect();
  const eager_header header{id_of(1), signature, 64, 0, {}, 0};
  f.receive_eager(0, 0, header);
  const auto parked = f.one<park_eager>();
  BOOST_TEST(parked.bytes == 64u);
  f.now += 1ms;
  f.drive(unmatched_requested{f.now});
  BOOST_TEST((f.one<report_unmatched>().id == id_of(1)));
  f.drive(unmatched_requested{f.now});
  BOOST_TEST(f.all<report_unmatched>().empty());
  f.drive(accept_requested{id_of(1), signature, memory(64), 0, 9});
  BOOST_TEST(f.one<unpark_eager>().place == parked.place);
  BOOST_TEST(f.one<report_accept>().token == 9u);
}

BOOST_AUTO_TEST_CASE(zero_bytes_are_a_transfer_like_any_other) {
  fixture f;
  f.connect();
  f.drive(accept_requested{id_of(1), signature, memory(0), 0, 9});
  BOOST_TEST(f.all<report_accept>().empty());
  f.receive_eager(0, 0, {id_of(1), signature, 0, 0, {}, 0});
  BOOST_TEST(f.one<drain_eager>().bytes == 0u);
  BOOST_TEST((f.one<report_accept>().failed.code == errc::ok));
}

BOOST_AUTO_TEST_CASE(a_small_message_does_not_wait_for_bulk_before_it) {
  fixture f;
  f.connect();
  f.drive(accept_requested{id_of(1), signature, memory(8), 0, 9});
  f.receive_eager(5, 0, {id_of(1), signature, 8, 0, {}, 0});
  BOOST_TEST(f.one<report_accept>().token == 9u);
}

BOOST_AUTO_TEST_CASE(a_mismatch_ends_the_accept_and_tells_the_peer_our_signature) {
  fixture f;
  f.connect();
  auto theirs = signature;
  theirs.count = 101;
  f.drive(accept_requested{id_of(1), signature, memory(8), 0, 9});
  f.receive_eager(0, 0, {id_of(1), theirs, 8, 0, {}, 0});
  BOOST_TEST((f.one<report_accept>().failed.code == errc::mismatch));
  BOOST_TEST((f.one<report_accept>().failed.peer == rank{3}));
  BOOST_TEST((f.one<report_accept>().theirs == theirs));
  BOOST_TEST(f.all<drain_eager>().empty());
  const auto refused = f.said<refuse_body>();
  BOOST_REQUIRE(refused.size() == 1u);
  BOOST_TEST((refused[0].signature == signature));
  BOOST_TEST((refused[0].side == transfer_side::accept));
}

BOOST_AUTO_TEST_CASE(an_eager_put_meeting_a_large_accept_is_a_mismatch) {
  fixture f;
  f.connect();
  f.drive(accept_requested{id_of(1), signature, memory(large), 55, 9});
  BOOST_TEST(f.said<ready_body>().size() == 1u);
  f.receive_eager(0, 0, {id_of(1), signature, 8, 0, {}, 0});
  BOOST_TEST(f.one<withdraw_key>().key == 55u);
  BOOST_TEST((f.one<report_accept>().failed.code == errc::mismatch));
}

BOOST_AUTO_TEST_CASE(a_large_put_meeting_a_small_accept_is_announced_and_refused) {
  fixture f;
  f.connect();
  f.drive(put_requested{id_of(1), signature, memory(large), 42});
  f.now += f.state->options.announce_delay;
  f.drive(link_timer_fired{f.state->clock.generation});
  BOOST_TEST(f.said<request_body>().size() == 1u);
  auto theirs = signature;
  theirs.count = 2;
  f.hear(0, refuse_body{id_of(1), transfer_side::accept, theirs});
  BOOST_TEST((f.one<report_put>().failed.code == errc::mismatch));
  BOOST_TEST((f.one<report_put>().theirs == theirs));
}

BOOST_AUTO_TEST_CASE(a_refusal_of_a_put_reported_before_is_told) {
  fixture f;
  f.connect();
  f.drive(put_requested{id_of(1), signature, memory(8), 42});
  f.hear(0, refuse_body{id_of(1), transfer_side::accept, signature});
  BOOST_TEST((f.one<report_refused>().id == id_of(1)));
}

BOOST_AUTO_TEST_CASE(a_cancelled_put_keeps_its_source_until_no_lane_reads_it) {
  fixture f;
  f.connect();
  f.drive(put_requested{id_of(1), signature, memory(large), 42});
  f.hear(0, ready_body{id_of(1), signature, large, 77});
  f.drive(budget_granted{large / 4});
  const auto posted = f.one<post_segment>();
  f.drive(operation_cancelled{communicator_id{1}, epoch{0}, operation_number{1}});
  BOOST_TEST(f.all<release_source>().empty());
  BOOST_TEST(f.said<cancel_body>().size() == 1u);
  const auto terminator = f.one<post_segment>();
  BOOST_TEST(terminator.write.source.bytes == 0u);
  BOOST_TEST(decode_immediate(terminator.write.immediate).notify);
  f.drive(write_finished{posted.lane, posted.write.context});
  BOOST_TEST(f.one<release_source>().token == 42u);
}

BOOST_AUTO_TEST_CASE(the_key_of_an_accept_that_has_everything_is_finished_and_not_revoked) {
  fixture f;
  f.connect();
  f.drive(accept_requested{id_of(1), signature, memory(large), 55, 9});
  f.hear(0, begin_body{5, id_of(1)});
  f.drive(write_received{1, encode(immediate{true, false, 5, sequence{0}}), large});
  BOOST_TEST((f.one<report_accept>().failed.code == errc::ok));
  BOOST_TEST(f.one<withdraw_key>().key == 55u);
  BOOST_TEST((f.one<withdraw_key>().how == exposure_end::finished));
}

BOOST_AUTO_TEST_CASE(a_cancelled_accept_loses_its_key_at_once_and_says_nothing) {
  fixture f;
  f.connect();
  f.drive(accept_requested{id_of(1), signature, memory(large), 55, 9});
  f.drive(operation_cancelled{communicator_id{1}, epoch{0}, operation_number{1}});
  BOOST_TEST(f.one<withdraw_key>().key == 55u);
  BOOST_TEST((f.one<withdraw_key>().how == exposure_end::revoked));
  BOOST_TEST(f.all<report_accept>().empty());
  // The peer began before it heard of it: its notification ends the channel and nothing else.
  f.hear(0, begin_body{5, id_of(1)});
  f.drive(write_received{1, encode(immediate{true, false, 5, sequence{0}}), 0, true});
  BOOST_TEST(f.all<report_accept>().empty());
  BOOST_TEST(!f.state->channels_in[5].begun);
}

BOOST_AUTO_TEST_CASE(a_released_notification_is_acknowledged_in_the_same_step) {
  fixture f;
  f.connect();
  f.drive(accept_requested{id_of(1), signature, memory(large), 55, 9});
  f.hear(0, begin_body{5, id_of(1)});
  f.drive(write_received{1, encode(immediate{false, false, 5, sequence{0}}), large / 2, false});
  BOOST_TEST(f.all<post_control>().empty());
  f.drive(write_received{1, encode(immediate{true, false, 5, sequence{1}}), large / 2, false});
  BOOST_TEST(f.one<report_accept>().token == 9u);
  BOOST_TEST(f.said<acknowledge_body>().size() == 1u);
}

BOOST_AUTO_TEST_CASE(the_peers_cancellation_ends_what_waits_for_it) {
  fixture f;
  f.connect();
  f.drive(put_requested{id_of(1), signature, memory(large), 42});
  f.drive(accept_requested{id_of(2), signature, memory(8), 0, 43});
  f.hear(0, cancel_body{communicator_id{1}, epoch{0}, operation_number{1}});
  BOOST_TEST((f.one<report_put>().failed.code == errc::aborted));
  BOOST_TEST((f.one<report_accept>().failed.code == errc::aborted));
  f.drive(put_requested{id_of(3), signature, memory(8), 44});
  BOOST_TEST((f.one<report_put>().failed.code == errc::aborted));
}

BOOST_AUTO_TEST_CASE(messages_of_an_old_epoch_are_dropped_and_counted) {
  fixture f;
  f.connect();
  f.drive(epoch_advanced{communicator_id{1}, epoch{2}});
  f.hear(0, ready_body{id_of(1), signature, large, 77});
  f.receive_eager(0, 0, {id_of(2), signature, 8, 0, {}, 0});
  BOOST_TEST(f.state->counters.stale_epoch_dropped == 2u);
  BOOST_TEST(f.state->transfers.live_count() == 0u);
  BOOST_TEST(f.state->eager_in.all_free());
}

BOOST_AUTO_TEST_CASE(garbage_and_gaps_end_the_link_with_every_transfer_reported_first) {
  fixture f;
  f.connect();
  f.drive(put_requested{id_of(1), signature, memory(large), 42});
  const std::array<std::byte, 3> garbage{};
  f.drive(message_received{0, garbage});
  BOOST_TEST((f.one<report_put>().failed.code == errc::version_mismatch));
  BOOST_TEST((f.one<report_lost>().cause.code == errc::version_mismatch));
  BOOST_TEST(f.all<close_lane>().size() == 2u);
  f.drive(put_requested{id_of(2), signature, memory(8), 43});
  BOOST_TEST(f.one<report_put>().token == 43u);
  f.drive(budget_granted{10});
  BOOST_TEST(f.one<return_budget>().bytes == 10u);

  fixture g;
  g.connect();
  g.peer_number = 1;
  g.hear(0, acknowledge_body{});
  BOOST_TEST((g.one<report_lost>().cause.code == errc::malformed));
}

BOOST_AUTO_TEST_CASE(options_that_must_agree_and_do_not_end_the_link) {
  fixture f;
  f.drive(lane_opened{0, 64});
  auto other = f.hello(0);
  other.eager_bytes_max += 1;
  f.hear(0, other);
  BOOST_TEST((f.one<report_lost>().cause.code == errc::bad_configuration));
}

BOOST_AUTO_TEST_CASE(a_lane_too_shallow_is_closed_and_counted) {
  fixture f;
  f.drive(lane_opened{0, f.state->options.lane_depth - 1});
  BOOST_TEST(f.one<close_lane>().lane == 0);
  BOOST_TEST(f.state->counters.lanes_rejected == 1u);
}

BOOST_AUTO_TEST_CASE(what_a_lost_lane_did_not_deliver_goes_once_over_another) {
  link_options o;
  o.data_lane_count = 2;
  fixture f(o);
  f.connect();
  f.drive(put_requested{id_of(1), signature, memory(large), 42});
  f.hear(0, ready_body{id_of(1), signature, large, 77});
  f.drive(budget_granted{8 << 20});
  BOOST_REQUIRE(f.all<post_segment>().size() == 4u);  // numbers 0 and 2 on lane 1, others on lane 2
  f.drive(lane_failed{1, {errc::peer_lost}});
  BOOST_TEST(f.all<post_segment>().empty());  // not before the peer said what it has
  BOOST_TEST(f.said<lane_fenced_body>().size() == 1u);
  const std::array<std::byte, 1> bits{std::byte{0b1100}};  // 2 and 3 arrived
  f.hear(0, lane_fenced_body{{1, 1, 1}, sequence{0}, 4, true, bits});
  const auto again = f.one<post_segment>();
  BOOST_TEST(again.lane == 2);
  BOOST_TEST(decode_immediate(again.write.immediate).number.value == 0u);
  BOOST_TEST(f.state->counters.retransmitted == 1u);
}

BOOST_AUTO_TEST_CASE(the_last_lane_takes_the_link_with_it) {
  fixture f;
  f.connect();
  f.drive(accept_requested{id_of(1), signature, memory(8), 0, 9});
  f.drive(lane_failed{1, {errc::peer_lost, 104}});
  BOOST_TEST(f.all<report_lost>().empty());
  f.drive(lane_failed{0, {errc::peer_lost, 104}});
  BOOST_TEST((f.one<report_accept>().failed.code == errc::peer_lost));
  BOOST_TEST(f.one<report_lost>().cause.native == 104);
}

BOOST_AUTO_TEST_CASE(an_abandoned_link_reports_its_cause_even_without_lanes) {
  fixture f;
  f.drive(put_requested{id_of(1), signature, memory(8), 1});
  f.drive(link_abandoned{{errc::unreachable, 0, rank{3}}});
  BOOST_TEST((f.one<report_put>().failed.code == errc::unreachable));
  BOOST_TEST((f.one<report_lost>().cause.code == errc::unreachable));
}

BOOST_AUTO_TEST_CASE(notices_need_room_and_arrive_in_order) {
  link_options o;
  o.notice_count_max = 2;
  fixture f(o);
  const std::array<std::byte, 1> text{std::byte{'x'}};
  BOOST_TEST(notice_room(*f.state) == 2u);
  for (int i = 0; i < 33; ++i)
    f.drive(notice_requested{text});
  BOOST_TEST(notice_room(*f.state) == 0u);
  BOOST_TEST(f.state->counters.notices_rejected > 0u);
  f.connect();
  f.hear(0, notice_body{text});
  BOOST_TEST(f.one<deliver_notice>().length == 1);
}

BOOST_AUTO_TEST_CASE(more_transfers_than_the_table_holds_are_refused_at_once) {
  link_options o;
  o.transfer_count_max = 1;
  fixture f(o);
  f.drive(put_requested{id_of(1), signature, memory(8), 1});
  f.drive(put_requested{id_of(2), signature, memory(8), 2});
  BOOST_TEST((f.one<report_put>().failed.code == errc::queue_full));
}

BOOST_AUTO_TEST_CASE(many_reports_come_in_steps_of_bounded_size) {
  fixture f;
  f.connect();
  for (std::uint32_t i = 0; i < 300; ++i) {
    f.drive(accept_requested{id_of(i), signature, memory(large), 1000 + i, i});
  }
  f.drive(operation_cancelled{communicator_id{1}, epoch{0}, operation_number{1}});
  BOOST_TEST(f.all<withdraw_key>().size() == 300u);
  BOOST_TEST(f.all<resume_soon>().size() > 3u);
}

BOOST_AUTO_TEST_CASE(budget_is_free_again_when_the_lane_is_done_with_a_segment) {
  fixture f;
  f.connect();
  f.drive(put_requested{id_of(1), signature, memory(large), 42});
  f.hear(0, ready_body{id_of(1), signature, large, 77});
  f.drive(budget_granted{large / 4});
  const auto posted = f.all<post_segment>();
  BOOST_TEST(f.state->budget.available() == 0u);
  f.drive(write_finished{posted.front().lane, posted.front().write.context});
  BOOST_TEST(f.all<post_segment>().size() == 1u);  // without an acknowledgement of the peer
}

BOOST_AUTO_TEST_CASE(a_short_segment_counts_as_its_share_of_the_writes) {
  link_options o;
  o.segment_bytes = 10'000;
  o.eager_bytes_max = 100;
  o.budget_write_bytes_min = 50'000;
  fixture f(o);
  f.connect();
  f.drive(put_requested{id_of(1), signature, memory(100'000), 42});
  f.hear(0, ready_body{id_of(1), signature, 100'000, 77});
  f.drive(budget_granted{160'000});
  BOOST_TEST(f.all<post_segment>().size() == 3u);
  BOOST_TEST(f.state->budget.used == 150'000u);
}

BOOST_AUTO_TEST_CASE(a_link_without_a_cap_asks_for_no_budget) {
  link_options o;
  o.budget_capped = false;
  fixture f(o);
  f.connect();
  f.drive(put_requested{id_of(1), signature, memory(large), 42});
  f.hear(0, ready_body{id_of(1), signature, large, 77});
  BOOST_TEST(f.all<post_segment>().size() == 4u);
  BOOST_TEST(f.all<request_budget>().empty());
}

BOOST_AUTO_TEST_CASE(transfers_are_cut_below_the_segment_that_peers_agreed_on) {
  link_options o;
  o.cut_bytes = o.segment_bytes / 4;
  fixture f(o);
  f.connect();
  f.drive(put_requested{id_of(1), signature, memory(large), 42});
  f.hear(0, ready_body{id_of(1), signature, large, 77});
  f.drive(budget_granted{8 << 20});
  BOOST_TEST(f.all<post_segment>().size() == 16u);
}

BOOST_AUTO_TEST_CASE(idle_budget_goes_back_to_the_tier) {
  fixture f;
  f.connect();
  f.drive(budget_granted{1000});
  BOOST_TEST(f.all<return_budget>().empty());
  f.now += f.state->options.budget_hold;
  f.drive(link_timer_fired{f.state->clock.generation});
  BOOST_TEST(f.one<return_budget>().bytes == 1000u);
}
