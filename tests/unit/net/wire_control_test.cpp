#define BOOST_TEST_MODULE wire_control
#include <array>
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "net/wire/control_wire.hpp"
#include "runtime/random.hpp"

using namespace troupe;
using namespace troupe::net;

namespace {

const transfer_id some_id{communicator_id{0x01020304}, epoch{5}, operation_number{0x0607}, 8};
const operation_signature some_signature{operation_kind::broadcast, data_type::bfloat16,
                                         reduction::maximum, 3, 0x1122334455};

std::vector<std::byte> frame_of(const control_body& body, const control_header& header = {}) {
  std::array<std::byte, control_body_bytes_max> bytes{};
  const auto length = encode(body, bytes);
  std::vector<std::byte> frame(control_header_bytes + length);
  encode(kind_of(body), header, std::span(frame).first<control_header_bytes>());
  std::copy(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length),
            frame.begin() + control_header_bytes);
  return frame;
}

std::string hex(std::span<const std::byte> bytes) {
  std::string out;
  for (const auto b : bytes) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", std::to_integer<unsigned>(b));
    out += two;
  }
  return out;
}

std::string hex_of_body(const control_body& body) {
  const auto frame = frame_of(body);
  return hex(std::span(frame).subspan(control_header_bytes));
}

std::vector<control_body> one_of_each() {
  lane_reset_body reset;
  reset.lives.push_back({2, 3, 4});
  static constexpr std::array<std::byte, 2> bits{std::byte{0x81}, std::byte{0x01}};
  static constexpr std::array<std::byte, 3> text{std::byte{'a'}, std::byte{'b'}, std::byte{'c'}};
  return {hello_body{1, 2, 3, 4, 5, 6, 8, 9, 10, sequence{0xabcdef}},
          reset,
          acknowledge_body{},
          ready_body{some_id, some_signature, 77, 0xfeed},
          request_body{some_id, some_signature, 77},
          begin_body{63, some_id, 77},
          grant_body{62, some_id},
          decline_body{61},
          refuse_body{some_id, transfer_side::accept, some_signature},
          cancel_body{communicator_id{1}, epoch{2}, operation_number{3}},
          lane_fenced_body{{1, 2, 3}, sequence{0xfffffe}, 9, true, bits},
          notice_body{text},
          probe_body{}};
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_bytes_of_a_header_never_change) {
  const auto frame =
      frame_of(acknowledge_body{}, {0x01020304, 0x05060708, sequence{0x0a0b0c}, 0x0d0e0f10});
  BOOST_TEST(hex(frame) ==
             "01030000"
             "04030201"
             "08070605"
             "0c0b0a00"
             "100f0e0d");
}

BOOST_AUTO_TEST_CASE(the_bytes_of_every_body_never_change) {
  const std::string id =
      "04030201"
      "05000000"
      "0706000000000000"
      "08000000";
  const std::string signature =
      "04090300"
      "03000000"
      "5544332211000000";
  const auto bodies = one_of_each();
  const std::vector<std::string> golden = {
      "01"
      "02000000"
      "0300000000000000"
      "04000000"
      "0500000000000000"
      "0600000000000000"
      "08000000"
      "09000000"
      "0a000000"
      "efcdab00",
      "01"
      "02"
      "03000000"
      "04000000",
      "",
      id + signature +
          "4d00000000000000"
          "edfe000000000000",
      id + signature + "4d00000000000000",
      "3f" + id + "4d00000000000000",
      "3e" + id,
      "3d",
      id + "01" + signature,
      "01000000"
      "02000000"
      "0300000000000000",
      "01"
      "02000000"
      "03000000"
      "feffff00"
      "0900"
      "01"
      "8101",
      "03"
      "616263",
      ""};
  BOOST_REQUIRE(bodies.size() == golden.size());
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    BOOST_TEST(static_cast<std::size_t>(kind_of(bodies[i])) == i + 1);
    BOOST_TEST(hex_of_body(bodies[i]) == golden[i]);
  }
}

BOOST_AUTO_TEST_CASE(what_was_encoded_is_what_is_decoded) {
  for (const auto& body : one_of_each()) {
    const control_header header{1, 2, sequence{3}, 4};
    const auto frame = frame_of(body, header);
    BOOST_TEST(frame.size() <= control_bytes_max);
    const auto message = decode_control(frame);
    BOOST_REQUIRE(message.has_value());
    BOOST_TEST((message->header == header));
    BOOST_TEST(message->body.index() == body.index());
    BOOST_TEST(hex_of_body(message->body) == hex_of_body(body));
  }
}

BOOST_AUTO_TEST_CASE(a_message_that_is_shorter_or_longer_is_malformed) {
  for (const auto& body : one_of_each()) {
    const auto frame = frame_of(body);
    for (std::size_t length = 0; length < frame.size(); ++length) {
      // A copy of exact size, so that a sanitizer sees a read past the end.
      const std::vector<std::byte> cut(frame.begin(),
                                       frame.begin() + static_cast<std::ptrdiff_t>(length));
      BOOST_TEST(!decode_control(cut).has_value());
    }
    auto longer = frame;
    longer.push_back(std::byte{0});
    BOOST_TEST(!decode_control(longer).has_value());
  }
}

BOOST_AUTO_TEST_CASE(another_version_is_told_apart_from_garbage) {
  auto frame = frame_of(acknowledge_body{});
  frame[0] = std::byte{link_wire_version + 1};
  BOOST_TEST((decode_control(frame).error().code == errc::version_mismatch));
  frame[0] = std::byte{link_wire_version};
  frame[1] = std::byte{0xee};
  BOOST_TEST((decode_control(frame).error().code == errc::malformed));
}

BOOST_AUTO_TEST_CASE(values_outside_their_range_are_malformed) {
  BOOST_TEST(!decode_control(frame_of(begin_body{64, some_id})).has_value());
  BOOST_TEST(!decode_control(frame_of(grant_body{64, some_id})).has_value());
  BOOST_TEST(!decode_control(frame_of(decline_body{64})).has_value());
  BOOST_TEST(
      !decode_control(frame_of(hello_body{.lane = lane_count_max, .generation = 1})).has_value());
  BOOST_TEST(!decode_control(frame_of(hello_body{.lane = 0, .generation = 0})).has_value());
  auto bad_kind = some_signature;
  bad_kind.kind = static_cast<operation_kind>(99);
  BOOST_TEST(!decode_control(frame_of(request_body{some_id, bad_kind, 1})).has_value());
}

BOOST_AUTO_TEST_CASE(decoding_garbage_reads_nothing_outside_and_never_fails_to_answer) {
  random_stream random(1);
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::byte> bytes(random.below(control_bytes_max + 1));
    for (auto& b : bytes)
      b = static_cast<std::byte>(random.next());
    if (bytes.size() > 1) {
      bytes[0] = std::byte{link_wire_version};
      bytes[1] = static_cast<std::byte>(random.below(15));
    }
    const auto message = decode_control(bytes);
    if (message) BOOST_TEST(hex(frame_of(message->body, message->header)) == hex(bytes));
  }
}
