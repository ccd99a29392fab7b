#define BOOST_TEST_MODULE wire_eager
#include <array>
#include <boost/test/unit_test.hpp>
#include <vector>

#include "net/wire/control_wire.hpp"
#include "net/wire/eager_wire.hpp"
#include "net/wire/immediate_wire.hpp"

using namespace troupe;
using namespace troupe::net;

namespace {

const eager_header some_header{
    {communicator_id{0x01020304}, epoch{5}, operation_number{6}, 7},
    {operation_kind::all_reduce, data_type::float32, reduction::sum, 0, 0x10},
    0x0b0a0908,
    0x11121314,
    sequence{0x00fedcba},
    0x21222324};

std::array<std::byte, eager_header_bytes> bytes_of(const eager_header& header) {
  std::array<std::byte, eager_header_bytes> bytes{};
  encode(header, bytes);
  return bytes;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_bytes_of_an_eager_header_never_change) {
  const std::array<unsigned, eager_header_bytes> golden{
      0x01, 0,    0,    0, 0x08, 0x09, 0x0a, 0x0b, 0x04, 0x03, 0x02, 0x01, 0x05, 0,    0,    0,
      0x06, 0,    0,    0, 0,    0,    0,    0,    0x07, 0,    0,    0,    0x01, 0x0a, 0,    0,
      0,    0,    0,    0, 0x10, 0,    0,    0,    0,    0,    0,    0,    0x14, 0x13, 0x12, 0x11,
      0xba, 0xdc, 0xfe, 0, 0x24, 0x23, 0x22, 0x21, 0,    0,    0,    0,    0,    0,    0,    0};
  const auto bytes = bytes_of(some_header);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    BOOST_TEST(std::to_integer<unsigned>(bytes[i]) == golden[i]);
  }
}

BOOST_AUTO_TEST_CASE(an_eager_header_decodes_to_what_it_was) {
  const auto bytes = bytes_of(some_header);
  const auto header = decode_eager_header(bytes);
  BOOST_REQUIRE(header.has_value());
  BOOST_TEST((*header == some_header));
}

BOOST_AUTO_TEST_CASE(an_eager_header_that_is_cut_or_altered_is_refused) {
  const auto bytes = bytes_of(some_header);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const std::vector<std::byte> cut(bytes.begin(),
                                     bytes.begin() + static_cast<std::ptrdiff_t>(length));
    BOOST_TEST(!decode_eager_header(cut).has_value());
  }
  auto version = bytes;
  version[0] = std::byte{9};
  BOOST_TEST((decode_eager_header(version).error().code == errc::version_mismatch));
  for (const std::size_t reserved : {1u, 3u, 31u, 51u, 56u, 63u}) {
    auto altered = bytes;
    altered[reserved] = std::byte{1};
    BOOST_TEST((decode_eager_header(altered).error().code == errc::malformed));
  }
}

BOOST_AUTO_TEST_CASE(the_bits_of_an_immediate_never_move) {
  BOOST_TEST(encode(immediate{true, false, 0, {0}}) == 0x80000000u);
  BOOST_TEST(encode(immediate{false, true, 0, {0}}) == 0x40000000u);
  BOOST_TEST(encode(immediate{false, false, 63, {0}}) == 0x3f000000u);
  BOOST_TEST(encode(immediate{false, false, 0, {0xffffff}}) == 0x00ffffffu);
  BOOST_TEST(encode(immediate{true, true, 0x15, {0x123456}}) == 0xd5123456u);
}

BOOST_AUTO_TEST_CASE(every_word_is_an_immediate_and_comes_back) {
  for (std::uint64_t bits = 0; bits <= 0xffffffffull; bits += 65'521) {
    const auto word = static_cast<std::uint32_t>(bits);
    BOOST_TEST(encode(decode_immediate(word)) == word);
  }
  BOOST_TEST(encode(decode_immediate(0xffffffffu)) == 0xffffffffu);
}

BOOST_AUTO_TEST_CASE(sequence_distances_go_across_the_wrap) {
  const sequence last{sequence_mask};
  BOOST_TEST((advance(last, 1) == sequence{0}));
  BOOST_TEST(distance(last, sequence{0}) == 1u);
  BOOST_TEST(distance(sequence{0}, last) == sequence_mask);
  BOOST_TEST(distance(advance(last, 5), advance(last, 9)) == 4u);
}
