#define BOOST_TEST_MODULE net_verbs_frame_wire
#include <boost/test/unit_test.hpp>

#include <array>
#include <vector>

#include "net/verbs/verbs_frame_wire.hpp"
#include "net/verbs/verbs_greeting_wire.hpp"
#include "runtime/lane.hpp"

namespace {

using namespace troupe;
using namespace troupe::net;

std::vector<std::byte> bytes_of(const verbs_frame& frame) {
  std::array<std::byte, verbs_frame_header_bytes_max> out{};
  const auto length = encode(frame, out);
  return {out.begin(), out.begin() + static_cast<std::ptrdiff_t>(length)};
}

std::vector<int> numbers_of(std::span<const std::byte> bytes) {
  std::vector<int> numbers;
  for (const auto b : bytes)
    numbers.push_back(std::to_integer<int>(b));
  return numbers;
}

using kind = verbs_frame::kind;
const verbs_frame some_message{.what = kind::message, .credits = 0x0102'0304};
const verbs_frame some_credit{.what = kind::credit, .credits = 7};
const verbs_frame some_ask{.what = kind::ask, .credits = 1, .key = 0x0102'0304'0506'0708};
const verbs_frame some_answer{.what = kind::answer,
                              .key = 0x0102'0304'0506'0708,
                              .alive = true,
                              .memory = {.address = 0x1112'1314'1516'1718,
                                         .bytes = 0x2122'2324'2526'2728,
                                         .remote_key = 0x3132'3334}};
const verbs_frame some_denial{.what = kind::answer, .key = 3};
const verbs_frame some_refused{.what = kind::refused, .immediate = 0x8123'4567, .bytes = 0x1122};
const verbs_frame some_landed{.what = kind::landed, .immediate = 5, .bytes = 1ull << 40};
const std::array all{some_message, some_credit,  some_ask,   some_answer,
                     some_denial,  some_refused, some_landed};

const verbs_queue_pair_name some_pair{.link_layer = verbs_link_layer::ethernet,
                                      .device_index = 1,
                                      .device_count = 2,
                                      .local_id = 0x0403,
                                      .mtu_bytes = 4096,
                                      .number = 0x11'2233,
                                      .first_packet = 0x44'5566,
                                      .receive_count = 72,
                                      .gid = {std::byte{0xfe}, std::byte{0x80}}};
const verbs_greeting some_hello{.what = verbs_greeting::kind::hello,
                                .instance = 0x0102'0304'0506'0708,
                                .queue_pair = some_pair};
const verbs_greeting some_answering{
    .what = verbs_greeting::kind::answer, .instance = 9, .queue_pair = some_pair};
const verbs_greeting some_ready{.what = verbs_greeting::kind::ready};
const verbs_greeting some_refusal{.what = verbs_greeting::kind::refusal,
                                  .reason = verbs_refusal::link_layer};
const verbs_greeting some_bye{.what = verbs_greeting::kind::bye, .message_count = 0x0102};
const verbs_greeting some_plain{.what = verbs_greeting::kind::plain};
const std::array all_greetings{some_hello,   some_answering, some_ready,
                               some_refusal, some_bye,       some_plain};

}  // namespace

BOOST_AUTO_TEST_CASE(the_bytes_of_a_frame_are_golden) {
  const std::vector<int> message{1, 1, 0, 0, 4, 3, 2, 1};
  BOOST_TEST(numbers_of(bytes_of(some_message)) == message);
  const std::vector<int> ask{2, 1, 0, 0, 1, 0, 0, 0, 8, 7, 6, 5, 4, 3, 2, 1};
  BOOST_TEST(numbers_of(bytes_of(some_ask)) == ask);
  const std::vector<int> answer{3,    1,    0,    0,    0,    0,    0,    0,    8,    7,
                                6,    5,    4,    3,    2,    1,    0x18, 0x17, 0x16, 0x15,
                                0x14, 0x13, 0x12, 0x11, 0x28, 0x27, 0x26, 0x25, 0x24, 0x23,
                                0x22, 0x21, 0x34, 0x33, 0x32, 0x31, 1,    0,    0,    0};
  BOOST_TEST(numbers_of(bytes_of(some_answer)) == answer);
  const std::vector<int> refused{4, 1, 0, 0, 0,    0,    0, 0, 0x67, 0x45, 0x23, 0x81,
                                 0, 0, 0, 0, 0x22, 0x11, 0, 0, 0,    0,    0,    0};
  BOOST_TEST(numbers_of(bytes_of(some_refused)) == refused);
}

BOOST_AUTO_TEST_CASE(a_frame_decodes_to_what_was_encoded) {
  for (const auto& frame : all) {
    const auto bytes = bytes_of(frame);
    BOOST_TEST(bytes.size() == header_bytes(frame.what));
    const auto decoded = decode_verbs_frame(bytes);
    BOOST_REQUIRE(decoded.has_value());
    BOOST_TEST((*decoded == frame));
  }
}

BOOST_AUTO_TEST_CASE(a_frame_that_is_cut_or_has_a_tail_is_malformed) {
  for (const auto& frame : all) {
    auto bytes = bytes_of(frame);
    for (std::size_t length = 0; length < bytes.size(); ++length)
      BOOST_TEST(
          (decode_verbs_frame(std::span(bytes).first(length)).error().code == errc::malformed));
    const bool has_payload = frame.what == kind::message;
    bytes.resize(bytes.size() + 1);
    BOOST_TEST(decode_verbs_frame(bytes).has_value() == has_payload);
  }
}

BOOST_AUTO_TEST_CASE(a_message_is_no_longer_than_a_lane_takes) {
  auto bytes = bytes_of(some_message);
  bytes.resize(verbs_message_header_bytes + lane_message_bytes_max);
  BOOST_TEST(decode_verbs_frame(bytes).has_value());
  bytes.resize(bytes.size() + 1);
  BOOST_TEST(!decode_verbs_frame(bytes).has_value());
}

BOOST_AUTO_TEST_CASE(a_frame_with_an_impossible_field_is_refused) {
  const auto code_of = [](const verbs_frame& frame, std::size_t at, int value) {
    auto bytes = bytes_of(frame);
    bytes[at] = static_cast<std::byte>(value);
    const auto decoded = decode_verbs_frame(bytes);
    return decoded ? errc::ok : decoded.error().code;
  };
  for (const auto& frame : all) {
    BOOST_TEST((code_of(frame, 0, 0) == errc::malformed));
    BOOST_TEST((code_of(frame, 0, 7) == errc::malformed));
    BOOST_TEST((code_of(frame, 1, 2) == errc::version_mismatch));
    BOOST_TEST((code_of(frame, 2, 1) == errc::malformed));
  }
  BOOST_TEST((code_of(some_answer, 36, 2) == errc::malformed));
  BOOST_TEST((code_of(some_answer, 36, 0) == errc::malformed));     // none, and yet memory
  BOOST_TEST((code_of(some_answer, 31, 0xff) == errc::malformed));  // beyond the last address
  BOOST_TEST((code_of(some_refused, 12, 1) == errc::malformed));
  BOOST_TEST((code_of(some_refused, 23, 1) == errc::malformed));
}

BOOST_AUTO_TEST_CASE(the_bytes_of_a_greeting_are_golden) {
  const std::vector<int> hello{0x54, 0x56, 0x52, 0x42, 1,    1, 2,  0, 8, 7, 6,    5,    4,
                               3,    2,    1,    1,    0,    2, 0,  3, 4, 0, 0x10, 0x33, 0x22,
                               0x11, 0,    0x66, 0x55, 0x44, 0, 72, 0, 0, 0, 0,    0,    0,
                               0,    0xfe, 0x80, 0,    0,    0, 0,  0, 0, 0, 0,    0,    0,
                               0,    0,    0,    0,    0,    0, 0,  0, 0, 0, 0,    0};
  BOOST_TEST(numbers_of(encode(some_hello)) == hello);
}

BOOST_AUTO_TEST_CASE(a_greeting_decodes_to_what_was_encoded) {
  for (const auto& greeting : all_greetings) {
    const auto decoded = decode_verbs_greeting(encode(greeting));
    BOOST_REQUIRE(decoded.has_value());
    BOOST_TEST((*decoded == greeting));
  }
}

BOOST_AUTO_TEST_CASE(a_greeting_with_an_impossible_field_is_refused) {
  const auto code_of = [](const verbs_greeting& greeting, std::size_t at, int value) {
    auto bytes = encode(greeting);
    bytes[at] = static_cast<std::byte>(value);
    const auto decoded = decode_verbs_greeting(bytes);
    return decoded ? errc::ok : decoded.error().code;
  };
  for (const auto& greeting : all_greetings) {
    BOOST_TEST((code_of(greeting, 0, 'X') == errc::malformed));
    BOOST_TEST((code_of(greeting, 4, 2) == errc::version_mismatch));
    BOOST_TEST((code_of(greeting, 5, 0) == errc::malformed));
    BOOST_TEST((code_of(greeting, 5, 7) == errc::malformed));
    BOOST_TEST((code_of(greeting, 7, 3) == errc::malformed));
    BOOST_TEST((code_of(greeting, 36, 1) == errc::malformed));
  }
  BOOST_TEST((code_of(some_hello, 6, 3) == errc::malformed));      // no such link layer
  BOOST_TEST((code_of(some_hello, 16, 2) == errc::malformed));     // device 2 of 2
  BOOST_TEST((code_of(some_hello, 23, 0x20) == errc::malformed));  // an MTU of 8,192
  BOOST_TEST((code_of(some_hello, 27, 1) == errc::malformed));     // 25 bits of a number
  BOOST_TEST((code_of(some_hello, 32, 0) == errc::malformed));     // takes nothing
  BOOST_TEST((code_of(some_hello, 56, 1) == errc::malformed));     // only a bye counts
  BOOST_TEST((code_of(some_ready, 40, 1) == errc::malformed));     // only two have a pair
  BOOST_TEST((code_of(some_refusal, 7, 0) == errc::malformed));    // without a reason
  const auto bytes = encode(some_hello);
  for (const std::size_t length : {0, 1, 63})
    BOOST_TEST(!decode_verbs_greeting(std::span(bytes).first(length)));
}
