#define BOOST_TEST_MODULE exit_reader
#include "actors/endpoint/exit_reader.hpp"

#include <boost/test/unit_test.hpp>
#include <vector>

#include "runtime/cli/exit_board.hpp"

using namespace troupe;
using namespace troupe::actors;
using namespace std::chrono_literals;

namespace {

struct watched_board {
  explicit watched_board(std::uint32_t ranks)
      : board(*cli::exit_board::open(ranks)),
        reader(
            *exit_reader::open(board.path(), ranks, [this](rank r) { seen.push_back(r.value); })) {}

  std::vector<std::uint32_t> seen;
  cli::exit_board board;
  std::unique_ptr<exit_reader> reader;
};

}  // namespace

BOOST_AUTO_TEST_CASE(every_end_is_told_once) {
  watched_board one(4);
  const instant start{1s};
  BOOST_TEST(!one.reader->poll(start));
  one.board.note(2);
  one.board.note(0);
  BOOST_TEST(one.reader->poll(start + 2ms));
  BOOST_TEST(!one.reader->poll(start + 4ms));
  BOOST_TEST((one.seen == std::vector<std::uint32_t>{0, 2}));
}

BOOST_AUTO_TEST_CASE(it_looks_at_most_once_in_a_pause_unless_somebody_is_missing) {
  watched_board one(2);
  const instant start{1s};
  one.reader->poll(start);
  one.board.note(1);
  BOOST_TEST(!one.reader->poll(start + 100us));
  BOOST_TEST((one.reader->next_deadline() == never));
  one.reader->look_for_missing(start + 200us);
  BOOST_TEST((one.reader->next_deadline() == start + 200us));
  BOOST_TEST(one.reader->poll(start + 200us));
}

BOOST_AUTO_TEST_CASE(the_search_for_a_missing_rank_ends) {
  watched_board one(2);
  const instant start{1s};
  one.reader->look_for_missing(start);
  instant at = start;
  while (one.reader->next_deadline() != never && at < start + 10s) {
    at = one.reader->next_deadline();
    one.reader->poll(at);
  }
  BOOST_TEST((at >= start + exit_reader::search));
  BOOST_TEST((at < start + 2 * exit_reader::search));
}

BOOST_AUTO_TEST_CASE(a_board_that_is_missing_or_too_short_is_refused) {
  const auto missing = exit_reader::open("/nonexistent/board", 2, [](rank) {});
  BOOST_TEST((missing.error().code() == errc::bad_configuration));
  const auto board = *cli::exit_board::open(2);
  const auto short_one = exit_reader::open(board.path(), 3, [](rank) {});
  BOOST_TEST((short_one.error().code() == errc::bad_configuration));
  BOOST_TEST(short_one.error().message.find("2 bytes") != std::string::npos);
}
