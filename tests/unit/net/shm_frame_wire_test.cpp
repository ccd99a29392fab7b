#define BOOST_TEST_MODULE net_shm_frame_wire
#include <boost/test/unit_test.hpp>

#include <array>
#include <vector>

#include "net/shm/shm_frame_wire.hpp"
#include "net/shm/shm_greeting_wire.hpp"
#include "net/shm/shm_segment_layout.hpp"
#include "runtime/lane.hpp"

namespace {

using namespace troupe;
using namespace troupe::net;

std::vector<std::byte> bytes_of(const shm_frame& frame) {
  std::array<std::byte, shm_source_header_bytes> out{};
  const auto length = encode(frame, out);
  return {out.begin(), out.begin() + static_cast<std::ptrdiff_t>(length)};
}

std::vector<int> numbers_of(std::span<const std::byte> bytes) {
  std::vector<int> numbers;
  for (const auto b : bytes)
    numbers.push_back(std::to_integer<int>(b));
  return numbers;
}

const shm_frame some_source{.what = shm_frame::kind::source_write,
                            .immediate = 0x8123'4567,
                            .bytes = 0x0000'8877'6655'4433,
                            .target = {0x0102'0304'0506'0708, 0x1112'1314'1516'1718},
                            .source = 0x2122'2324'2526'2728};
const shm_frame some_inline{.what = shm_frame::kind::inline_write,
                            .immediate = 0x8123'4567,
                            .bytes = 0x1234,
                            .target = {0x0102'0304'0506'0708, 0x1112'1314'1516'1718}};
const shm_frame some_message{.what = shm_frame::kind::message, .bytes = 1000, .target = {}};

const shm_geometry some_sizes{.ring_bytes = 1 << 17, .bulk_bytes = 1 << 20, .depth = 32};
const shm_greeting some_hello{.what = shm_greeting::kind::hello,
                              .probe_address = 0x0102'0304'0506'0708,
                              .probe_value = 0x1112'1314'1516'1718,
                              .sizes = {}};
const shm_greeting some_answer{.what = shm_greeting::kind::answer,
                               .may_pull = true,
                               .probe_address = 1,
                               .probe_value = 2,
                               .sizes = {}};
const shm_greeting some_segment{.what = shm_greeting::kind::segment, .sizes = some_sizes};

}  // namespace

BOOST_AUTO_TEST_CASE(the_bytes_of_a_header_are_golden) {
  const std::vector<int> source{3,    1,    0,    0,    0x67, 0x45, 0x23, 0x81, 0x33, 0x44,
                                0x55, 0x66, 0x77, 0x88, 0,    0,    8,    7,    6,    5,
                                4,    3,    2,    1,    0x18, 0x17, 0x16, 0x15, 0x14, 0x13,
                                0x12, 0x11, 0x28, 0x27, 0x26, 0x25, 0x24, 0x23, 0x22, 0x21,
                                0,    0,    0,    0,    0,    0,    0,    0};
  BOOST_TEST(numbers_of(bytes_of(some_source)) == source);
  const std::vector<int> in_line{2, 1, 0,    0,    0x67, 0x45, 0x23, 0x81, 0x34, 0x12, 0,
                                 0, 0, 0,    0,    0,    8,    7,    6,    5,    4,    3,
                                 2, 1, 0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11};
  BOOST_TEST(numbers_of(bytes_of(some_inline)) == in_line);
  const std::vector<int> message{1, 1, 0, 0, 0, 0, 0, 0, 0xe8, 3, 0, 0, 0, 0, 0, 0};
  BOOST_TEST(numbers_of(bytes_of(some_message)) == message);
}

BOOST_AUTO_TEST_CASE(a_header_decodes_to_what_was_encoded) {
  for (const auto& frame : {some_source, some_inline, some_message}) {
    const auto bytes = bytes_of(frame);
    BOOST_TEST(bytes.size() == header_bytes(frame.what));
    const auto decoded = decode_shm_frame(bytes);
    BOOST_REQUIRE(decoded.has_value());
    BOOST_TEST((*decoded == frame));
  }
}

BOOST_AUTO_TEST_CASE(a_header_that_is_cut_is_malformed) {
  for (const auto& frame : {some_source, some_inline, some_message}) {
    const auto bytes = bytes_of(frame);
    for (std::size_t length = 0; length < bytes.size(); ++length)
      BOOST_TEST(
          (decode_shm_frame(std::span(bytes).first(length)).error().code == errc::malformed));
  }
}

BOOST_AUTO_TEST_CASE(a_header_with_an_impossible_field_is_malformed) {
  const auto is_malformed = [](std::vector<std::byte> bytes, std::size_t at, int value) {
    bytes[at] = static_cast<std::byte>(value);
    bytes.resize(shm_source_header_bytes);
    const auto decoded = decode_shm_frame(bytes);
    return !decoded && decoded.error().code == errc::malformed;
  };
  for (const auto& frame : {some_source, some_inline, some_message}) {
    const auto bytes = bytes_of(frame);
    for (const int kind : {0, 4, 0x47, 0xff})
      BOOST_TEST(is_malformed(bytes, 0, kind));
    for (const int version : {0, 2, 0xff})
      BOOST_TEST(is_malformed(bytes, 1, version));
    BOOST_TEST(is_malformed(bytes, 2, 1));
    BOOST_TEST(is_malformed(bytes, 3, 1));
    BOOST_TEST(is_malformed(bytes, 15, 1));
  }
  BOOST_TEST(is_malformed(bytes_of(some_message), 4, 1));
  BOOST_TEST(is_malformed(bytes_of(some_message), 9, 4));
  BOOST_TEST(is_malformed(bytes_of(some_inline), 10, 0x11));
  BOOST_TEST(is_malformed(bytes_of(some_source), 40, 1));
}

BOOST_AUTO_TEST_CASE(a_frame_takes_whole_lines_of_its_ring) {
  using kind = shm_frame::kind;
  BOOST_TEST(ring_bytes_of(kind::message, 0) == 16u);
  BOOST_TEST(ring_bytes_of(kind::message, 1) == 32u);
  BOOST_TEST(ring_bytes_of(kind::inline_write, 16) == 48u);
  BOOST_TEST(ring_bytes_of(kind::source_write, 1ull << 40) == 48u);
}

BOOST_AUTO_TEST_CASE(a_greeting_decodes_to_what_was_encoded) {
  for (const auto& greeting : {some_hello, some_answer, some_segment}) {
    const auto decoded = decode_shm_greeting(encode(greeting));
    BOOST_REQUIRE(decoded.has_value());
    BOOST_TEST((*decoded == greeting));
  }
  const std::vector<int> hello{
      0x54, 0x53, 0x48, 0x4d, 1,    1,    0,    0,    8, 7, 6, 5, 4, 3, 2, 1,
      0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11, 0, 0, 0, 0, 0, 0, 0, 0,
      0,    0,    0,    0,    0,    0,    0,    0,    0, 0, 0, 0, 0, 0, 0, 0};
  BOOST_TEST(numbers_of(encode(some_hello)) == hello);
}

BOOST_AUTO_TEST_CASE(a_greeting_with_an_impossible_field_is_refused) {
  const auto code_of = [](const shm_greeting& greeting, std::size_t at, int value) {
    auto bytes = encode(greeting);
    bytes[at] = static_cast<std::byte>(value);
    const auto decoded = decode_shm_greeting(bytes);
    return decoded ? errc::ok : decoded.error().code;
  };
  for (const auto& greeting : {some_hello, some_answer, some_segment}) {
    BOOST_TEST((code_of(greeting, 0, 'X') == errc::malformed));
    BOOST_TEST((code_of(greeting, 4, 2) == errc::version_mismatch));
    BOOST_TEST((code_of(greeting, 5, 0) == errc::malformed));
    BOOST_TEST((code_of(greeting, 5, 4) == errc::malformed));
    BOOST_TEST((code_of(greeting, 6, 2) == errc::malformed));
    BOOST_TEST((code_of(greeting, 7, 1) == errc::malformed));
    BOOST_TEST((code_of(greeting, 47, 1) == errc::malformed));
  }
  BOOST_TEST((code_of(some_hello, 6, 1) == errc::malformed));   // who asks has read nothing
  BOOST_TEST((code_of(some_hello, 24, 1) == errc::malformed));  // only a segment has sizes
  const auto bytes = encode(some_hello);
  for (const std::size_t length : {0, 1, 47})
    BOOST_TEST(!decode_shm_greeting(std::span(bytes).first(length)));
}

BOOST_AUTO_TEST_CASE(a_segment_has_rings_that_can_be) {
  const auto passes = [](const shm_geometry& sizes) {
    return decode_shm_greeting(
               encode(shm_greeting{.what = shm_greeting::kind::segment, .sizes = sizes}))
        .has_value();
  };
  BOOST_TEST(passes(some_sizes));
  BOOST_TEST(passes({1 << 17, 0, 32}));
  BOOST_TEST(!passes({0, 0, 32}));
  BOOST_TEST(!passes({(1 << 17) + 4096, 0, 32}));
  BOOST_TEST(!passes({1 << 17, 5000, 32}));
  BOOST_TEST(!passes({1 << 17, 0, 0}));
  BOOST_TEST(!passes({1 << 17, 0, 4096}));  // no room for the headers of so many writes
  BOOST_TEST(!passes({1ull << 40, 0, 32}));
  BOOST_TEST(!passes({1ull << 63, 1ull << 63, 32}));
}
