#define BOOST_TEST_MODULE window_table
#include <boost/test/unit_test.hpp>

#include <array>

#include "actors/endpoint/window_table.hpp"
#include "actors/rank/fetch_wire.hpp"

namespace troupe::actors {
namespace {

constexpr window_name name{communicator_id{3}, 1};
constexpr operation_slot first{1, 1}, second{2, 1};

BOOST_AUTO_TEST_CASE(a_part_of_a_window_lies_inside_it) {
  buffer_table buffers(4);
  window_table windows(buffers);
  std::array<std::byte, 100> memory{};
  BOOST_TEST(windows.open(name, memory.data(), memory.size()).value() != 0u);
  BOOST_TEST(buffers.resolve(*windows.part(name, 90, 10)) == memory.data() + 90);
  BOOST_TEST(windows.part(name, 100, 0).has_value());
  BOOST_TEST(!windows.part(name, 91, 10).has_value());
  BOOST_TEST(!windows.part(name, ~0ull, 2).has_value());
  BOOST_TEST(!windows.part({name.communicator, 2}, 0, 1).has_value());
}

BOOST_AUTO_TEST_CASE(a_window_without_bytes_has_a_part_without_bytes) {
  buffer_table buffers(4);
  window_table windows(buffers);
  BOOST_TEST(windows.open(name, nullptr, 0).has_value());
  BOOST_TEST(windows.part(name, 0, 0).has_value());
  BOOST_TEST(!windows.part(name, 0, 1).has_value());
}

BOOST_AUTO_TEST_CASE(a_wait_in_a_closed_window_leaves_no_window_behind) {
  buffer_table buffers(4);
  window_table windows(buffers);
  BOOST_TEST(!windows.take(name, rank{7}, 1, first));
  BOOST_TEST(!windows.note(name, rank{7}).has_value());
  BOOST_TEST(!windows.part(name, 0, 0).has_value());
}

BOOST_AUTO_TEST_CASE(a_closed_window_leaves_no_buffer_and_no_exposure) {
  buffer_table buffers(4);
  window_table windows(buffers);
  std::array<std::byte, 100> memory{};
  const auto key = windows.open(name, memory.data(), memory.size()).value();
  windows.close(name);
  windows.close(name);
  BOOST_TEST(buffers.resolve(remote_region{key, 0}, 1) == nullptr);
  BOOST_TEST(windows.open({name.communicator, 2}, memory.data(), 1).has_value());
  BOOST_TEST(windows.open({name.communicator, 3}, nullptr, 0).value() == 0u);
  windows.close_all(name.communicator);
  BOOST_TEST(buffers.live_buffers() == 0u);
  BOOST_TEST(buffers.live_exposures() == 0u);
}

BOOST_AUTO_TEST_CASE(waits_are_served_in_order_by_peer) {
  buffer_table buffers(4);
  window_table windows(buffers);
  BOOST_TEST(windows.open(name, nullptr, 0).has_value());
  BOOST_TEST(!windows.take(name, rank{7}, 2, first));
  BOOST_TEST(!windows.take(name, rank{7}, 1, second));
  BOOST_TEST(!windows.note(name, rank{8}).has_value());
  BOOST_TEST(!windows.note(name, rank{7}).has_value());
  BOOST_TEST((windows.note(name, rank{7}) == first));
  BOOST_TEST((windows.note(name, rank{7}) == second));
  BOOST_TEST(windows.take(name, rank{8}, 1, first));
  BOOST_TEST(!windows.take(name, rank{8}, 1, first));
}

BOOST_AUTO_TEST_CASE(a_wait_that_ended_takes_nothing) {
  buffer_table buffers(4);
  window_table windows(buffers);
  BOOST_TEST(windows.open(name, nullptr, 0).has_value());
  BOOST_TEST(!windows.take(name, rank{7}, 2, first));
  BOOST_TEST(!windows.note(name, rank{7}).has_value());
  windows.forget(first);
  BOOST_TEST(windows.take(name, rank{7}, 1, second));
}

BOOST_AUTO_TEST_CASE(a_note_for_a_window_that_is_gone_is_nobodys) {
  buffer_table buffers(4);
  window_table windows(buffers);
  BOOST_TEST(!windows.note(name, rank{7}).has_value());
}

BOOST_AUTO_TEST_CASE(the_bytes_of_a_fetch_never_change_and_others_are_refused) {
  const fetch wanted{communicator_id{1}, epoch{2}, one_sided_number(rank{3}, 4, true), 5, 6, 7};
  auto frame = encode(wanted);
  BOOST_TEST(frame.length == fetch_bytes);
  BOOST_TEST(is_fetch(frame.view()));
  BOOST_TEST(std::to_integer<int>(frame.bytes[0]) == 1);
  BOOST_TEST(std::to_integer<int>(frame.bytes[4]) == 1);
  BOOST_TEST(std::to_integer<int>(frame.bytes[8]) == 2);
  BOOST_TEST(std::to_integer<int>(frame.bytes[12]) == 5);
  BOOST_TEST(std::to_integer<int>(frame.bytes[16]) == 4);
  BOOST_TEST(std::to_integer<int>(frame.bytes[23]) == 0x60);
  BOOST_TEST(std::to_integer<int>(frame.bytes[24]) == 6);
  BOOST_TEST(std::to_integer<int>(frame.bytes[32]) == 7);
  const auto read = decode_fetch(frame.view());
  BOOST_REQUIRE(read.has_value());
  BOOST_TEST((read->operation == wanted.operation));
  BOOST_TEST(read->offset == 6u);
  BOOST_TEST((decode_fetch(frame.view().first(39)).error().code == errc::malformed));
  frame.bytes[0] = std::byte{2};
  BOOST_TEST((decode_fetch(frame.view()).error().code == errc::version_mismatch));
  frame.bytes[0] = std::byte{1};
  frame.bytes[23] = std::byte{0x40};
  BOOST_TEST((decode_fetch(frame.view()).error().code == errc::malformed));
}

}  // namespace
}  // namespace troupe::actors
