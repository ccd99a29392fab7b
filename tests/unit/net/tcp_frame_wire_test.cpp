#define BOOST_TEST_MODULE net_tcp_frame_wire
#include <boost/test/unit_test.hpp>

#include <array>
#include <vector>

#include "net/tcp/tcp_frame_wire.hpp"
#include "runtime/lane.hpp"

namespace {

using namespace troupe;
using namespace troupe::net;

std::vector<int> encoded(const tcp_frame& frame) {
  std::array<std::byte, tcp_write_header_bytes> out{};
  const auto length = encode(frame, out);
  std::vector<int> numbers;
  for (std::size_t i = 0; i < length; ++i)
    numbers.push_back(std::to_integer<int>(out[i]));
  return numbers;
}

std::vector<std::byte> bytes_of(const tcp_frame& frame) {
  std::array<std::byte, tcp_write_header_bytes> out{};
  const auto length = encode(frame, out);
  return {out.begin(), out.begin() + static_cast<std::ptrdiff_t>(length)};
}

const tcp_frame some_write{.what = tcp_frame::kind::write,
                           .immediate = 0x8123'4567,
                           .bytes = 0x0000'8877'6655'4433,
                           .target = {0x0102'0304'0506'0708, 0x1112'1314'1516'1718}};
const tcp_frame some_message{
    .what = tcp_frame::kind::message, .immediate = 0, .bytes = 1000, .target = {}};

}  // namespace

BOOST_AUTO_TEST_CASE(the_bytes_of_a_header_are_golden) {
  const std::vector<int> write{2,    1,    0,    0,    0x67, 0x45, 0x23, 0x81, 0x33, 0x44, 0x55,
                               0x66, 0x77, 0x88, 0,    0,    8,    7,    6,    5,    4,    3,
                               2,    1,    0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11};
  BOOST_TEST(encoded(some_write) == write);
  const std::vector<int> message{1, 1, 0, 0, 0, 0, 0, 0, 0xe8, 3, 0, 0, 0, 0, 0, 0};
  BOOST_TEST(encoded(some_message) == message);
}

BOOST_AUTO_TEST_CASE(a_header_decodes_to_what_was_encoded) {
  for (const auto& frame : {some_write, some_message}) {
    const auto bytes = bytes_of(frame);
    BOOST_TEST(header_bytes_of(bytes) == bytes.size());
    const auto decoded = decode(bytes);
    BOOST_REQUIRE(decoded.has_value());
    BOOST_TEST((*decoded == frame));
  }
}

BOOST_AUTO_TEST_CASE(a_header_that_is_cut_is_malformed) {
  for (const auto& frame : {some_write, some_message}) {
    const auto bytes = bytes_of(frame);
    for (std::size_t length = 0; length < bytes.size(); ++length)
      BOOST_TEST((decode(std::span(bytes).first(length)).error().code == errc::malformed));
  }
}

BOOST_AUTO_TEST_CASE(a_header_with_an_impossible_field_is_malformed) {
  const auto is_malformed = [](std::vector<std::byte> bytes, std::size_t at, int value) {
    bytes[at] = static_cast<std::byte>(value);
    bytes.resize(tcp_write_header_bytes);
    const auto decoded = decode(bytes);
    return !decoded && decoded.error().code == errc::malformed;
  };
  for (const auto& frame : {some_write, some_message}) {
    const auto bytes = bytes_of(frame);
    for (const int kind : {0, 3, 0x47, 0xff})
      BOOST_TEST(is_malformed(bytes, 0, kind));
    for (const int version : {0, 2, 0xff})
      BOOST_TEST(is_malformed(bytes, 1, version));
    BOOST_TEST(is_malformed(bytes, 2, 1));
    BOOST_TEST(is_malformed(bytes, 3, 1));
    BOOST_TEST(is_malformed(bytes, 15, 1));
  }
  BOOST_TEST(is_malformed(bytes_of(some_message), 4, 1));
  BOOST_TEST(is_malformed(bytes_of(some_message), 9, 4));
}

BOOST_AUTO_TEST_CASE(the_longest_frames_are_well_formed) {
  auto message = some_message;
  message.bytes = lane_message_bytes_max;
  BOOST_TEST(decode(bytes_of(message)).has_value());
  auto write = some_write;
  write.bytes = tcp_write_bytes_max;
  BOOST_TEST(decode(bytes_of(write)).has_value());
  ++write.bytes;
  BOOST_TEST(!decode(bytes_of(write)).has_value());
}
