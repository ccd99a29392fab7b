#define BOOST_TEST_MODULE line_assembler
#include "runtime/cli/line_assembler.hpp"

#include <boost/test/unit_test.hpp>

#include "runtime/random.hpp"

using namespace troupe::cli;

namespace {

std::string relay(line_style style, std::initializer_list<std::string_view> pieces) {
  line_assembler lines(std::move(style));
  std::string out;
  for (const std::string_view piece : pieces)
    lines.feed(piece, out);
  lines.finish(out);
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_line_gets_the_tag_however_it_was_cut) {
  const std::string text = "alpha\n\nbeta gamma\nlast";
  const std::string expected = "[1] alpha\n[1] \n[1] beta gamma\n[1] last\n";
  troupe::random_stream random(7);
  for (int round = 0; round < 200; ++round) {
    line_assembler lines({.tag = "[1] "});
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
      const auto bytes = static_cast<std::size_t>(random.between(1, 6));
      lines.feed(std::string_view(text).substr(at, bytes), out);
      at += bytes;
    }
    lines.finish(out);
    BOOST_REQUIRE_EQUAL(out, expected);
  }
}

BOOST_AUTO_TEST_CASE(nothing_comes_out_before_the_line_is_complete) {
  line_assembler lines({.tag = "> "});
  std::string out;
  lines.feed("half", out);
  BOOST_CHECK_EQUAL(out, "");
  BOOST_CHECK_EQUAL(lines.live_line(), "> half");
  lines.feed(" whole\n", out);
  BOOST_CHECK_EQUAL(out, "> half whole\n");
  BOOST_CHECK_EQUAL(lines.live_line(), "");
}

BOOST_AUTO_TEST_CASE(a_redrawn_line_ends_in_its_last_state) {
  BOOST_CHECK_EQUAL(relay({.tag = "> "}, {"1%\r2%", "\r3%\n"}), "> 3%\n");
  BOOST_CHECK_EQUAL(relay({.tag = "> "}, {"\r1%", "\r2%\r", "\n"}), "> 2%\n");
  BOOST_CHECK_EQUAL(relay({.tag = "> "}, {"windows\r\n"}), "> windows\n");
}

BOOST_AUTO_TEST_CASE(without_a_tag_bytes_are_unchanged) {
  BOOST_CHECK_EQUAL(relay({}, {"1%\r2%", "\r\n\n", "end"}), "1%\r2%\r\n\nend");
}

BOOST_AUTO_TEST_CASE(a_line_beyond_the_limit_is_cut_and_nothing_is_lost) {
  BOOST_CHECK_EQUAL(relay({.tag = "> ", .line_bytes_max = 4}, {"abcdefghij\nxyz\n"}),
                    "> abcd\n> efgh\n> ij\n> xyz\n");
  BOOST_CHECK_EQUAL(relay({.tag = "", .line_bytes_max = 4}, {"abcdefghij\nx"}), "abcdefghij\nx");
}

BOOST_AUTO_TEST_CASE(a_line_redrawn_for_ever_takes_bounded_memory_and_keeps_its_last_state) {
  line_assembler lines({.tag = "> ", .line_bytes_max = 64});
  std::string out;
  for (int i = 0; i < 10'000; ++i)
    lines.feed("\rstep " + std::to_string(i), out);
  BOOST_CHECK_EQUAL(out, "");
  BOOST_CHECK_EQUAL(lines.live_line(), "> step 9999");
  lines.feed("\n", out);
  BOOST_CHECK_EQUAL(out, "> step 9999\n");
}

BOOST_AUTO_TEST_CASE(a_live_line_fits_the_terminal_by_characters_not_bytes) {
  BOOST_CHECK_EQUAL(fit_columns("abcdef", 4), "abcd");
  BOOST_CHECK_EQUAL(fit_columns("abc", 4), "abc");
  BOOST_CHECK_EQUAL(fit_columns("äöüß!", 4), "äöüß");
  BOOST_CHECK_EQUAL(fit_columns("\x1b[31mabcdef\x1b[0m", 4), "\x1b[31mabcdef\x1b[0m");
}
