#define BOOST_TEST_MODULE failure_notice_wire
#include <boost/test/unit_test.hpp>

#include <array>
#include <string>

#include "actors/rank/failure_notice_wire.hpp"
#include "runtime/random.hpp"

namespace troupe::actors {
namespace {

notice sample() {
  return {notice_kind::communicator_failed,
          {7},
          {2},
          failure{error{errc::mismatch, -5, rank{3}}, "why"}};
}

BOOST_AUTO_TEST_CASE(a_notice_survives_the_wire) {
  const auto back = decode_notice(encode(sample()).view());
  BOOST_REQUIRE(back.has_value());
  BOOST_TEST((back->communicator == communicator_id{7}));
  BOOST_TEST((back->epoch == epoch{2}));
  BOOST_TEST((back->why.what == sample().why.what));
  BOOST_TEST(back->why.message == "why");
}

BOOST_AUTO_TEST_CASE(the_bytes_are_these) {
  const std::array<unsigned, 24> golden{1, 1, 9, 0, 7,    0,    0,    0,    2, 0,   0,   0,
                                        3, 0, 0, 0, 0xfb, 0xff, 0xff, 0xff, 3, 'w', 'h', 'y'};
  const auto frame = encode(sample());
  BOOST_REQUIRE(frame.length == golden.size());
  for (std::size_t i = 0; i < golden.size(); ++i)
    BOOST_TEST(std::to_integer<unsigned>(frame.bytes[i]) == golden[i]);
}

BOOST_AUTO_TEST_CASE(a_long_text_is_cut_to_what_fits) {
  auto n = sample();
  n.why.message.assign(1000, 'x');
  const auto back = decode_notice(encode(n).view());
  BOOST_REQUIRE(back.has_value());
  BOOST_TEST(back->why.message.size() < 200u);
  BOOST_TEST(!back->why.message.empty());
}

BOOST_AUTO_TEST_CASE(garbage_is_malformed_and_never_read_past_its_end) {
  random_stream draw(9);
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::byte> bytes(draw.below(64));
    for (auto& b : bytes)
      b = static_cast<std::byte>(draw.next());
    if (!bytes.empty() && draw.one_in(2)) bytes[0] = std::byte{1};
    static_cast<void>(decode_notice(bytes));
  }
  const auto frame = encode(sample());
  for (std::size_t length = 0; length < frame.length; ++length)
    BOOST_TEST(!decode_notice(frame.view().first(length)).has_value());
}

}  // namespace
}  // namespace troupe::actors
