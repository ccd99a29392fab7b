#define BOOST_TEST_MODULE flight_board
#include "actors/trace/flight_board.hpp"

#include <boost/test/unit_test.hpp>

namespace troupe::actors {
namespace {

using namespace std::chrono_literals;

std::shared_ptr<communicator_progress> split_of_two() {
  return std::make_shared<communicator_progress>(
      communicator_id{3}, rank{1},
      std::make_shared<const membership>(membership::of({rank{4}, rank{7}})));
}

BOOST_AUTO_TEST_CASE(a_communicator_is_read_with_its_members_and_how_far_it_is) {
  flight_board board;
  const auto progress = split_of_two();
  board.add(progress);
  progress->called({5}, true, instant(1s));
  progress->started({5});
  progress->called({1ull << 63 | 9}, false, instant(2s));
  progress->ended({4}, true, instant(3s));
  progress->outstanding.store(2);
  rank_dump out;
  BOOST_TEST(board.read(out));
  BOOST_REQUIRE(out.communicators.size() == 1u);
  const auto& c = out.communicators[0];
  BOOST_TEST((c.members == std::vector{rank{4}, rank{7}}));
  BOOST_TEST(c.last_called == 5u);
  BOOST_TEST(c.last_started == 5u);
  BOOST_TEST(c.last_ended == 4u);
  BOOST_TEST(c.calls_waiting == 2u);
  BOOST_TEST((c.last_call == instant(2s)));
  BOOST_TEST((c.last_progress == instant(3s)));
  board.remove({3});
  rank_dump after;
  BOOST_TEST(board.read(after));
  BOOST_TEST(after.communicators.empty());
}

BOOST_AUTO_TEST_CASE(the_first_failure_counts_and_is_an_incident) {
  flight_board board;
  board.add(split_of_two());
  board.note_failure({3}, {error{errc::mismatch, 0, rank{0}}, "first"}, instant(1s));
  board.note_failure({3}, {errc::aborted, "second"}, instant(2s));
  board.note_failure({9}, {errc::aborted, "of no communicator"}, instant(2s));
  rank_dump out;
  BOOST_TEST(board.read(out));
  BOOST_TEST((out.communicators[0].failed == errc::mismatch));
  BOOST_TEST(out.communicators[0].failure == "first");
  BOOST_REQUIRE(out.incidents.size() == 1u);
  BOOST_TEST((out.incidents[0].peer == rank{4}));  // a world rank
}

BOOST_AUTO_TEST_CASE(another_epoch_has_other_members_and_what_failed_is_over) {
  flight_board board;
  const auto progress = split_of_two();
  board.add(progress);
  progress->called({5}, true, instant(1s));
  board.note_failure({3}, {errc::peer_lost, "rank 4 ended"}, instant(1s));
  progress->set_epoch(epoch{1});
  board.enter({3}, rank{0}, std::make_shared<const membership>(membership::of({rank{7}})));
  rank_dump out;
  BOOST_TEST(board.read(out));
  const auto& c = out.communicators[0];
  BOOST_TEST((c.epoch == epoch{1}));
  BOOST_TEST((c.self == rank{0}));
  BOOST_TEST((c.members == std::vector{rank{7}}));
  BOOST_TEST((c.failed == errc::ok));
  BOOST_TEST(c.last_called == 0u);
  BOOST_TEST(out.incidents.size() == 1u);
}

BOOST_AUTO_TEST_CASE(incidents_are_bounded_and_the_newest_stay_in_order) {
  flight_board board;
  for (int i = 0; i < 1000; ++i)
    board.note({incident_kind::lane_lost, instant(duration(i + 1)), rank{0}, errc::ok,
                std::string(10'000, 'x')});
  rank_dump out;
  BOOST_TEST(board.read(out));
  BOOST_REQUIRE(out.incidents.size() == flight_board::incident_count);
  BOOST_TEST((out.incidents.back().at == instant(duration(1000))));
  for (std::size_t i = 1; i < out.incidents.size(); ++i)
    BOOST_TEST((out.incidents[i].at - out.incidents[i - 1].at == duration(1)));
  BOOST_TEST(out.incidents[0].text.size() == flight_board::incident_text_bytes_max);
}

BOOST_AUTO_TEST_CASE(a_link_is_there_until_it_is_forgotten) {
  flight_board board;
  board.note(link_report{.peer = rank{2}, .lanes_open = 1});
  board.note(link_report{.peer = rank{2}, .lanes_open = 3});
  rank_dump out;
  BOOST_TEST(board.read(out));
  BOOST_REQUIRE(out.links.size() == 1u);
  BOOST_TEST(out.links[0].lanes_open == 3u);
  board.forget_link(rank{2});
  rank_dump after;
  BOOST_TEST(board.read(after));
  BOOST_TEST(after.links.empty());
}

}  // namespace
}  // namespace troupe::actors
