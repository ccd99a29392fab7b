#define BOOST_TEST_MODULE quantity
#include "config/quantity.hpp"

#include "runtime/random.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <limits>

namespace troupe::config {
namespace {

bool mentions(const quantity& q, std::string_view part) {
  return !q && q.error().find(part) != std::string::npos;
}

BOOST_AUTO_TEST_CASE(binary_units_are_powers_of_1024_and_decimal_units_powers_of_1000) {
  BOOST_TEST(parse_bytes("1KiB").value() == 1024);
  BOOST_TEST(parse_bytes("256KiB").value() == 262144);
  BOOST_TEST(parse_bytes("1MiB").value() == 1 << 20);
  BOOST_TEST(parse_bytes("3GiB").value() == 3ll << 30);
  BOOST_TEST(parse_bytes("1TiB").value() == 1ll << 40);
  BOOST_TEST(parse_bytes("5kB").value() == 5000);
  BOOST_TEST(parse_bytes("4MB").value() == 4'000'000);
  BOOST_TEST(parse_bytes("2GB").value() == 2'000'000'000);
  BOOST_TEST(parse_bytes("1TB").value() == 1'000'000'000'000);
  BOOST_TEST(parse_bytes("17B").value() == 17);
}

BOOST_AUTO_TEST_CASE(a_size_without_unit_is_in_bytes) {
  BOOST_TEST(parse_bytes("262144").value() == 262144);
  BOOST_TEST(parse_bytes("0").value() == 0);
}

BOOST_AUTO_TEST_CASE(one_space_may_stand_before_the_unit) {
  BOOST_TEST(parse_bytes("4 MiB").value() == 4 << 20);
  BOOST_TEST(parse_time_length("5 s").value() == 5'000'000'000);
  BOOST_TEST(!parse_bytes("4  MiB").has_value());
  BOOST_TEST(!parse_bytes("4 ").has_value());
}

BOOST_AUTO_TEST_CASE(every_unit_of_time_has_its_length) {
  BOOST_TEST(parse_time_length("7ns").value() == 7);
  BOOST_TEST(parse_time_length("500us").value() == 500'000);
  BOOST_TEST(parse_time_length("150ms").value() == 150'000'000);
  BOOST_TEST(parse_time_length("10s").value() == 10'000'000'000);
  BOOST_TEST(parse_time_length("5m").value() == 300'000'000'000);
  BOOST_TEST(parse_time_length("2h").value() == 7'200'000'000'000);
}

BOOST_AUTO_TEST_CASE(a_time_without_unit_is_an_error_that_offers_the_fix) {
  BOOST_TEST(mentions(parse_time_length("5"), "has no unit"));
  BOOST_TEST(mentions(parse_time_length("5"), "write \"5s\""));
  BOOST_TEST(mentions(parse_time_length("0"), "has no unit"));
}

BOOST_AUTO_TEST_CASE(an_unknown_unit_is_named_beside_the_known_ones) {
  BOOST_TEST(mentions(parse_bytes("256kib"), "\"kib\""));
  BOOST_TEST(mentions(parse_bytes("256kib"), "KiB, MiB"));
  BOOST_TEST(mentions(parse_time_length("5sec"), "\"sec\""));
  BOOST_TEST(mentions(parse_time_length("0.5s"), "\".5s\""));
  BOOST_TEST(mentions(parse_time_length("5sec"), "ns, us, ms, s, m, h"));
}

BOOST_AUTO_TEST_CASE(text_that_is_no_number_is_refused) {
  for (const char* text : {"", "KiB", "-", "--5", "1-2", "five", " 5", "+5", "0x10", "1e3"}) {
    BOOST_TEST(!parse_whole_number(text).has_value(), text);
    BOOST_TEST(!parse_bytes(text).has_value(), text);
    BOOST_TEST(!parse_time_length(text).has_value(), text);
  }
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_into_64_bits_is_refused_and_does_not_wrap) {
  BOOST_TEST(mentions(parse_whole_number("9223372036854775808"), "too large"));
  BOOST_TEST(parse_whole_number("9223372036854775807").value() ==
             std::numeric_limits<std::int64_t>::max());
  BOOST_TEST(mentions(parse_bytes("8388608TiB"), "too large"));
  BOOST_TEST(parse_bytes("8388607TiB").value() == 8388607ll << 40);
  BOOST_TEST(mentions(parse_bytes("-8388609TiB"), "too large"));
  BOOST_TEST(mentions(parse_time_length("9999999999h"), "too large"));
}

BOOST_AUTO_TEST_CASE(a_negative_number_is_read_so_that_the_range_can_refuse_it) {
  BOOST_TEST(parse_bytes("-4KiB").value() == -4096);
  BOOST_TEST(parse_time_length("-1s").value() == -1'000'000'000);
}

BOOST_AUTO_TEST_CASE(sizes_are_printed_in_the_largest_exact_binary_unit) {
  BOOST_TEST(format_bytes(262144) == "256KiB");
  BOOST_TEST(format_bytes(1 << 20) == "1MiB");
  BOOST_TEST(format_bytes(1000) == "1000");
  BOOST_TEST(format_bytes(1025) == "1025");
  BOOST_TEST(format_bytes(0) == "0");
}

BOOST_AUTO_TEST_CASE(times_are_printed_in_the_largest_exact_unit) {
  BOOST_TEST(format_time_length(0) == "0s");
  BOOST_TEST(format_time_length(150'000'000) == "150ms");
  BOOST_TEST(format_time_length(90'000'000'000) == "90s");
  BOOST_TEST(format_time_length(600'000'000'000) == "10m");
  BOOST_TEST(format_time_length(1'000'000'001) == "1000000001ns");
}

BOOST_AUTO_TEST_CASE(what_is_printed_reads_back_as_the_same_number) {
  random_stream random(7);
  for (int i = 0; i < 20'000; ++i) {
    const std::int64_t number = static_cast<std::int64_t>(random.next() >> random.between(1, 63))
                                << random.below(12);
    BOOST_REQUIRE(parse_bytes(format_bytes(number)).value() == number);
    BOOST_REQUIRE(parse_time_length(format_time_length(number)).value() == number);
  }
}

}  // namespace
}  // namespace troupe::config
