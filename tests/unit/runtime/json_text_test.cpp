#define BOOST_TEST_MODULE json_text
#include "runtime/json_text.hpp"

#include <boost/test/unit_test.hpp>

namespace troupe {
namespace {

BOOST_AUTO_TEST_CASE(what_is_written_is_read_back) {
  json_writer w;
  w.begin_object().member("a", std::uint64_t{UINT64_MAX}).member("b", std::int64_t{INT64_MIN});
  w.member("c", "\"quoted\"\\\n\x01 \xc3\xa4").member("d", true).key("e").null();
  w.key("f").begin_array().value(1.5).begin_object().end_object().begin_array().end_array();
  w.end_array().end_object();
  const auto read = parse_json(w.text());
  BOOST_REQUIRE_MESSAGE(read.has_value(), read.error().message);
  BOOST_TEST(*read->find("a")->count() == UINT64_MAX);
  BOOST_TEST(*read->find("b")->integer() == INT64_MIN);
  BOOST_TEST(*read->find("c")->text() == "\"quoted\"\\\n\x01 \xc3\xa4");
  BOOST_TEST(*read->find("d")->truth());
  BOOST_TEST((read->find("e")->what() == json_value::type::null));
  BOOST_TEST(read->find("f")->items().size() == 3u);
  BOOST_TEST(*read->find("f")->items()[0].number() == 1.5);
  BOOST_TEST((read->find("g") == nullptr));
}

BOOST_AUTO_TEST_CASE(a_value_is_only_what_it_is) {
  const auto read = parse_json(R"([1, "1", 1.5, -1, 18446744073709551616])");
  BOOST_REQUIRE(read.has_value());
  const auto& v = read->items();
  BOOST_TEST(!v[0].text());
  BOOST_TEST(!v[1].count());
  BOOST_TEST(!v[2].integer());
  BOOST_TEST(!v[3].count());
  BOOST_TEST(*v[3].integer() == -1);
  BOOST_TEST(!v[4].count());
}

BOOST_AUTO_TEST_CASE(escapes_of_other_writers_are_understood) {
  const auto read = parse_json(R"("\u00e4\ud83d\ude00\/\b")");
  BOOST_REQUIRE(read.has_value());
  BOOST_TEST(*read->text() == "\xc3\xa4\xf0\x9f\x98\x80/\b");
}

BOOST_AUTO_TEST_CASE(what_is_no_json_is_refused_with_the_position) {
  for (const char* text :
       {"", "{", "[1,]", "{\"a\" 1}", "{\"a\":1,}", "tru", "\"", "\"\\x\"", "\"\\ud800\"", "1 2",
        "nan", "-", "[1", "\"\n\"", "{1:2}", "inf", "\"\\u12\"", "'a'"}) {
    const auto read = parse_json(text);
    BOOST_TEST(!read.has_value(), text);
    if (!read) BOOST_TEST((read.error().code() == errc::malformed), text);
  }
  BOOST_TEST(parse_json("[1, x]").error().message.find("byte 5") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(depth_is_bounded) {
  BOOST_TEST(parse_json(std::string(30, '[') + std::string(30, ']')).has_value());
  BOOST_TEST(!parse_json(std::string(100'000, '[')).has_value());
}

}  // namespace
}  // namespace troupe
