#define BOOST_TEST_MODULE membership_carrier
#include "actors/rank/membership_carrier.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>

using namespace troupe;
using namespace troupe::actors;

namespace {

std::vector<std::byte> frame_of(std::size_t bytes) {
  std::vector<std::byte> out(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    out[i] = static_cast<std::byte>(i * 7 + i / 251);
  return out;
}

std::vector<std::byte> put_together(frame_assembler& parts, const std::vector<notice_frame>& cuts) {
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    const auto whole = parts.add(cuts[i].view());
    BOOST_REQUIRE(whole.has_value());
    BOOST_TEST(whole->has_value() == (i + 1 == cuts.size()));
    if (*whole) return {(*whole)->begin(), (*whole)->end()};
  }
  return {};
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_is_cut_comes_together_again_whatever_its_length) {
  frame_assembler parts;
  for (const std::size_t bytes : {1u, 32u, 187u, 188u, 189u, 376u, 377u, 5000u, 98'304u}) {
    const auto frame = frame_of(bytes);
    BOOST_TEST((put_together(parts, cut(frame)) == frame));
  }
}

BOOST_AUTO_TEST_CASE(a_frame_that_is_too_long_or_empty_is_not_cut) {
  BOOST_TEST(cut(frame_of(carried_frame_bytes_max + 1)).empty());
  BOOST_TEST(cut({}).empty());
}

BOOST_AUTO_TEST_CASE(a_half_frame_is_dropped_when_another_begins) {
  frame_assembler parts;
  const auto old_frame = cut(frame_of(1000));
  BOOST_TEST(parts.add(old_frame[0].view()).has_value());
  const auto frame = frame_of(400);
  BOOST_TEST((put_together(parts, cut(frame)) == frame));
}

BOOST_AUTO_TEST_CASE(parts_without_beginning_odd_flags_and_endless_frames_are_malformed) {
  frame_assembler parts;
  const auto cuts = cut(frame_of(1000));
  BOOST_TEST((parts.add(cuts[1].view()).error().code == errc::malformed));
  auto odd = cuts[0];
  odd.bytes[2] |= std::byte{4};
  BOOST_TEST((parts.add(odd.view()).error().code == errc::malformed));
  odd = cuts[0];
  odd.bytes[0] = std::byte{9};
  BOOST_TEST((parts.add(odd.view()).error().code == errc::version_mismatch));
  BOOST_TEST((parts.add(cuts[0].view().first(part_header_bytes)).error().code == errc::malformed));
  BOOST_TEST(parts.add(cuts[0].view()).has_value());
  bool refused = false;
  for (std::size_t i = 0; i < carried_frame_bytes_max && !refused; ++i)
    refused = !parts.add(cuts[1].view()).has_value();
  BOOST_TEST(refused);
}
