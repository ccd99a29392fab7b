#define BOOST_TEST_MODULE errc
#include "runtime/errc.hpp"

#include <array>
#include <boost/test/unit_test.hpp>
#include <set>
#include <string>
#include <string_view>

#include "runtime/error.hpp"

using troupe::errc;
using troupe::explain;
using troupe::to_string;

namespace {

struct entry {
  int number;
  std::string_view name;
  std::string_view sentence;
};

#define TROUPE_TEST_ENTRY(number, name, sentence) entry{number, #name, sentence},
constexpr std::array entries{TROUPE_ERROR_CODES(TROUPE_TEST_ENTRY)};
#undef TROUPE_TEST_ENTRY

}  // namespace

BOOST_AUTO_TEST_CASE(numbers_names_and_sentences_are_unique) {
  std::set<int> numbers;
  std::set<std::string_view> names, sentences;
  for (const auto& e : entries) {
    BOOST_TEST(numbers.insert(e.number).second, e.name);
    BOOST_TEST(names.insert(e.name).second, e.name);
    BOOST_TEST(sentences.insert(e.sentence).second, e.name);
  }
}

BOOST_AUTO_TEST_CASE(a_code_gives_back_its_name_and_sentence) {
  for (const auto& e : entries) {
    BOOST_TEST(to_string(static_cast<errc>(e.number)) == e.name);
    BOOST_TEST(explain(static_cast<errc>(e.number)) == e.sentence);
  }
}

// Numbers cross the wire and appear in logs: this list only ever grows at its end.
BOOST_AUTO_TEST_CASE(numbers_do_not_move) {
  BOOST_TEST(static_cast<int>(errc::ok) == 0);
  BOOST_TEST(static_cast<int>(errc::bad_argument) == 1);
  BOOST_TEST(static_cast<int>(errc::timed_out) == 5);
  BOOST_TEST(static_cast<int>(errc::aborted) == 6);
  BOOST_TEST(static_cast<int>(errc::peer_lost) == 8);
  BOOST_TEST(static_cast<int>(errc::mismatch) == 9);
  BOOST_TEST(static_cast<int>(errc::malformed) == 15);
  BOOST_TEST(static_cast<int>(errc::unreachable) == 20);
}

BOOST_AUTO_TEST_CASE(a_number_outside_the_list_is_unknown) {
  BOOST_TEST(to_string(static_cast<errc>(9999)) == "unknown");
  BOOST_TEST(explain(static_cast<errc>(9999)) == "unknown");
}

BOOST_AUTO_TEST_CASE(a_failure_reads_as_code_and_message) {
  BOOST_TEST(to_string(troupe::failure{errc::peer_lost, "rank 3 closed its connection"}) ==
             "peer_lost: rank 3 closed its connection");
}

BOOST_AUTO_TEST_CASE(a_failure_without_message_explains_its_code) {
  const auto text = to_string(troupe::failure{errc::aborted, ""});
  BOOST_TEST(text == "aborted: " + std::string{explain(errc::aborted)});
}

BOOST_AUTO_TEST_CASE(an_error_without_peer_blames_nobody) {
  BOOST_TEST((troupe::error{}.peer == troupe::no_rank));
  BOOST_TEST((troupe::error{}.code == errc::ok));
}
