#define BOOST_TEST_MODULE net_membership_wire
#include <boost/test/unit_test.hpp>

#include <vector>

#include "net/membership/membership_wire.hpp"

using namespace troupe;
using namespace troupe::net;

namespace {

epoch_record some_record() {
  return {.number = {7},
          .members = {{1}, {4}, {9}},
          .processes = {1, 4, 0x80000007},
          .guests = {{9}},
          .unproven = {{2}},
          .doubted = {{4}},
          .admitted = {{0x1122334455667788, {9}}},
          .next_member = {10},
          .decided = {.completed_through = 5, .called_through = 6, .failed = errc::mismatch}};
}

membership_frame frame_of(membership_body body) {
  return {
      .communicator = {3}, .epoch = {6}, .sender = {4}, .in = {2, {1}}, .body = std::move(body)};
}

std::vector<membership_frame> all_frames() {
  return {frame_of(prepare_frame{}),
          frame_of(report_frame{.progress = {5, 6, errc::timed_out},
                                .accepted_in = {1, {4}},
                                .accepted = some_record(),
                                .entered = true}),
          frame_of(report_frame{}),
          frame_of(propose_frame{some_record()}),
          frame_of(accept_frame{}),
          frame_of(commit_frame{some_record()}),
          frame_of(alarm_frame{.accusations = {{{1}, {4}}, {{2}, {4}}},
                               .dead = {{2}},
                               .tokens = {17},
                               .decision_wanted = true}),
          frame_of(left_frame{errc::no_quorum}),
          frame_of(join_frame{17})};
}

std::vector<int> numbers_of(const std::vector<std::byte>& bytes) {
  std::vector<int> out;
  for (const auto one : bytes)
    out.push_back(std::to_integer<int>(one));
  return out;
}

errc refusal_of(const std::vector<std::byte>& bytes) {
  const auto frame = decode_membership(bytes);
  return frame ? errc::ok : frame.error().code;
}

std::vector<std::byte> bytes_of(const membership_frame& frame) {
  std::vector<std::byte> out;
  encode(frame, out);
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_frame_comes_back_as_it_was) {
  for (const auto& frame : all_frames()) {
    const auto back = decode_membership(bytes_of(frame));
    BOOST_REQUIRE(back.has_value());
    BOOST_TEST((*back == frame));
  }
}

BOOST_AUTO_TEST_CASE(the_bytes_of_a_commit_are_golden) {
  const std::vector<int> golden{
      0x54, 0x52, 0x50, 0x4d, 2,    5,    0,    0,    136,  0,    0,    0,    3, 0, 0, 0,    6,  0,
      0,    0,    4,    0,    0,    0,              //
      2,    0,    0,    0,    1,    0,    0,    0,  //
      7,    0,    0,    0,    3,    0,    0,    0,    1,    0,    0,    0,    4, 0, 0, 0,    9,  0,
      0,    0,                                                                                //
      3,    0,    0,    0,    1,    0,    0,    0,    4,    0,    0,    0,    7, 0, 0, 0x80,  //
      1,    0,    0,    0,    9,    0,    0,    0,    1,    0,    0,    0,    2, 0, 0, 0,    1,  0,
      0,    0,    4,    0,    0,    0,  //
      1,    0,    0,    0,    0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 9, 0, 0, 0,    10, 0,
      0,    0,  //
      5,    0,    0,    0,    0,    0,    0,    0,    6,    0,    0,    0,    0, 0, 0, 0,    9,  0};
  auto expected = golden;
  expected[8] = static_cast<int>(golden.size());
  BOOST_TEST(numbers_of(bytes_of(frame_of(commit_frame{some_record()}))) == expected,
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(no_part_of_a_frame_is_a_frame) {
  for (const auto& frame : all_frames()) {
    auto bytes = bytes_of(frame);
    while (!bytes.empty()) {
      bytes.pop_back();
      BOOST_TEST((refusal_of(bytes) == errc::malformed));
    }
  }
}

BOOST_AUTO_TEST_CASE(another_version_is_named_as_such) {
  auto bytes = bytes_of(frame_of(prepare_frame{}));
  bytes[4] = std::byte{3};
  BOOST_TEST((refusal_of(bytes) == errc::version_mismatch));
}

BOOST_AUTO_TEST_CASE(a_list_longer_than_its_frame_is_refused_before_memory_is_taken) {
  auto bytes = bytes_of(frame_of(commit_frame{some_record()}));
  for (std::size_t i = 0; i < 4; ++i)
    bytes[membership_header_bytes + 4 + i] = std::byte{0xff};
  BOOST_TEST((refusal_of(bytes) == errc::malformed));
}

BOOST_AUTO_TEST_CASE(members_out_of_order_and_guests_that_are_no_members_are_refused) {
  auto bytes = bytes_of(frame_of(commit_frame{some_record()}));
  bytes[membership_header_bytes + 8] = std::byte{5};
  BOOST_TEST((refusal_of(bytes) == errc::malformed));
  bytes = bytes_of(frame_of(commit_frame{some_record()}));
  bytes[membership_header_bytes + 40] = std::byte{8};
  BOOST_TEST((refusal_of(bytes) == errc::malformed));
}

BOOST_AUTO_TEST_CASE(a_record_with_another_number_of_processes_than_members_is_refused) {
  auto bytes = bytes_of(frame_of(commit_frame{some_record()}));
  BOOST_TEST((bytes[membership_header_bytes + 20] == std::byte{3}));
  bytes[membership_header_bytes + 20] = std::byte{2};
  BOOST_TEST((refusal_of(bytes) == errc::malformed));
}
