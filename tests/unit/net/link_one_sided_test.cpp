#define BOOST_TEST_MODULE net_link_one_sided
#include "tests/unit/net/link_fixture.hpp"

// Puts into windows: no accept at the peer, and the peer learns when everything is in place.

using namespace troupe;
using namespace troupe::net;
using namespace troupe::net::test;

namespace {

transfer_id put_id(std::uint64_t call, std::uint32_t initiator) {
  return {communicator_id{1}, epoch{0}, one_sided_number(rank{initiator}, call, false), 3};
}

constexpr operation_signature put_signature{operation_kind::put, data_type::uint8, reduction::sum,
                                            0, 100};

write_received segment_of(std::uint8_t channel, std::uint32_t number, std::uint64_t bytes,
                          bool last, bool refused = false) {
  return {1, encode(immediate{last, false, channel, sequence{number}}), bytes, refused};
}

}  // namespace

BOOST_AUTO_TEST_CASE(numbers_of_members_and_of_gets_never_meet) {
  const auto mine = one_sided_number(rank{1}, 5, false);
  BOOST_TEST((mine != one_sided_number(rank{2}, 5, false)));
  BOOST_TEST((mine != one_sided_number(rank{1}, 5, true)));
  BOOST_TEST((mine != one_sided_number(rank{1}, 6, false)));
  BOOST_TEST(is_window_put({communicator_id{1}, epoch{0}, mine, 0}));
  BOOST_TEST(!is_window_put({communicator_id{1}, epoch{0}, one_sided_number(rank{1}, 5, true), 0}));
  BOOST_TEST(!is_window_put(id_of(1)));
}

BOOST_AUTO_TEST_CASE(a_put_into_a_window_waits_for_nobody_and_lands_at_its_offset) {
  fixture f;
  f.connect();
  f.drive(budget_granted{8 << 20});
  f.drive(put_requested{put_id(1, 0), put_signature, memory(100), 42, {77, 1000}});
  const auto begun = f.said<begin_body>();
  BOOST_REQUIRE(begun.size() == 1u);
  BOOST_TEST(begun[0].bytes == 100u);
  const auto posted = f.one<post_segment>();
  BOOST_TEST(posted.write.target.key == 77u);
  BOOST_TEST(posted.write.target.offset == 1000u);
  BOOST_TEST(posted.write.source.bytes == 100u);
  BOOST_TEST(f.all<report_put>().empty());
  f.drive(write_finished{posted.lane, posted.write.context});
  BOOST_TEST(f.all<report_put>().empty());
  control_header header;
  header.control_acknowledged = f.state->control.unposted_number();
  header.data_acknowledged = sequence{1};
  f.hear(0, acknowledge_body{}, header);
  BOOST_TEST(f.one<report_put>().token == 42u);
}

BOOST_AUTO_TEST_CASE(a_notification_is_numbered_behind_all_bytes_of_earlier_puts) {
  link_options o;
  o.segment_bytes = 4096;
  fixture f(o);
  f.connect();
  f.drive(put_requested{put_id(1, 0), put_signature, memory(12'000), 42, {77, 0}});
  auto last = put_id(2, 0);
  last.step = window_step(1, true);
  f.drive(put_requested{last, put_signature, memory(0), 43, {77, 0}});
  BOOST_TEST(f.all<post_segment>().empty());  // no budget yet
  f.drive(budget_granted{8 << 20});
  const auto posted = f.all<post_segment>();
  BOOST_REQUIRE(posted.size() == 4u);
  BOOST_TEST(posted[3].write.source.bytes == 0u);
  BOOST_TEST(decode_immediate(posted[3].write.immediate).number.value == 3u);
  BOOST_TEST(decode_immediate(posted[3].write.immediate).notify);
}

BOOST_AUTO_TEST_CASE(what_the_peer_puts_is_told_when_all_of_it_and_all_before_it_is_there) {
  fixture f;
  f.connect();
  f.hear(0, begin_body{5, put_id(1, 3), 300});
  f.drive(segment_of(5, 1, 200, true));
  BOOST_TEST(f.all<report_written>().empty());
  f.drive(segment_of(5, 0, 100, false));
  BOOST_TEST((f.one<report_written>().id == put_id(1, 3)));
  BOOST_TEST((f.one<report_written>().failed.code == errc::ok));
  BOOST_TEST(f.state->transfers.live_count() == 0u);
}

BOOST_AUTO_TEST_CASE(a_notification_that_overtakes_its_begin_is_told_with_the_begin) {
  fixture f;
  f.connect();
  f.drive(segment_of(5, 0, 100, true));
  BOOST_TEST(f.all<report_written>().empty());
  f.hear(0, begin_body{5, put_id(1, 3), 100});
  BOOST_TEST((f.one<report_written>().id == put_id(1, 3)));
}

BOOST_AUTO_TEST_CASE(a_put_into_a_window_that_is_gone_is_refused_and_both_sides_hear_of_it) {
  fixture f;
  f.connect();
  f.hear(0, begin_body{5, put_id(1, 3), 100});
  f.drive(segment_of(5, 0, 0, true, true));
  BOOST_TEST((f.one<report_written>().failed.code == errc::mismatch));
  BOOST_REQUIRE(f.said<refuse_body>().size() == 1u);
  BOOST_TEST((f.said<refuse_body>()[0].id == put_id(1, 3)));

  fixture sender;
  sender.connect();
  sender.drive(budget_granted{8 << 20});
  sender.drive(put_requested{put_id(1, 0), put_signature, memory(100), 42, {77, 0}});
  const auto posted = sender.one<post_segment>();
  sender.hear(0, refuse_body{put_id(1, 0), transfer_side::accept, put_signature});
  control_header header;
  header.control_acknowledged = sender.state->control.unposted_number();
  header.data_acknowledged = sequence{1};
  sender.hear(0, acknowledge_body{}, header);
  sender.drive(write_finished{posted.lane, posted.write.context});
  BOOST_TEST((sender.one<report_put>().failed.code == errc::mismatch));
}

BOOST_AUTO_TEST_CASE(a_refusal_behind_the_report_is_told_apart) {
  fixture f;
  f.connect();
  f.hear(0, refuse_body{put_id(9, 0), transfer_side::accept, put_signature});
  BOOST_TEST((f.one<report_refused>().id == put_id(9, 0)));
}

BOOST_AUTO_TEST_CASE(a_put_that_its_rank_stopped_is_not_told_as_written) {
  fixture f;
  f.connect();
  f.hear(0, begin_body{5, put_id(1, 3), 300});
  f.drive(segment_of(5, 0, 100, false));
  f.drive(segment_of(5, 1, 0, true));
  BOOST_TEST((f.one<report_written>().failed.code == errc::aborted));

  f.hear(0, begin_body{6, put_id(2, 3), 300});
  f.hear(0, cancel_body{communicator_id{1}, epoch{0}, put_id(2, 3).operation});
  BOOST_TEST(f.all<report_written>().empty());
  f.drive(segment_of(6, 2, 0, true));
  BOOST_TEST(f.all<report_written>().empty());
  BOOST_TEST(f.state->transfers.live_count() == 0u);
  BOOST_TEST(!f.state->channels_in[6].begun);
}

BOOST_AUTO_TEST_CASE(a_second_begin_of_a_put_under_way_is_a_broken_peer) {
  fixture f;
  f.connect();
  f.hear(0, begin_body{5, put_id(1, 3), 300});
  f.hear(0, begin_body{6, put_id(1, 3), 300});
  BOOST_TEST((f.one<report_lost>().cause.code == errc::malformed));
}
