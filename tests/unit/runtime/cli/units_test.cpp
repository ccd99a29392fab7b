#define BOOST_TEST_MODULE units
#include "runtime/cli/units.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::cli;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_CASE(sizes_are_read_as_nccl_tests_and_as_the_configuration_read_them) {
  BOOST_CHECK_EQUAL(parse_size("8").value(), 8u);
  BOOST_CHECK_EQUAL(parse_size("0").value(), 0u);
  BOOST_CHECK_EQUAL(parse_size("64K").value(), 65'536u);
  BOOST_CHECK_EQUAL(parse_size("128M").value(), 134'217'728u);
  BOOST_CHECK_EQUAL(parse_size("1G").value(), 1'073'741'824u);
  BOOST_CHECK_EQUAL(parse_size("2T").value(), 2'199'023'255'552u);
  BOOST_CHECK_EQUAL(parse_size("4KiB").value(), 4096u);
  BOOST_CHECK_EQUAL(parse_size("4kB").value(), 4000u);
}

BOOST_AUTO_TEST_CASE(what_is_no_size_is_refused_with_the_text_and_the_forms) {
  for (const char* text :
       {"", "M", "-1", "8X", "1.5M", "8 M x", "99999999999999999999", "20000000T"})
    BOOST_CHECK_MESSAGE(!parse_size(text), text);
  BOOST_CHECK_EQUAL(parse_size("8X").error().message,
                    "'8X' is no size; write bytes, or 64K, 128M, 1G, 1GB");
}

BOOST_AUTO_TEST_CASE(every_size_survives_being_printed) {
  for (const std::uint64_t bytes :
       {0ull, 8ull, 1000ull, 1024ull, 65'536ull, 1ull << 27, 3ull << 40})
    BOOST_CHECK_EQUAL(parse_size(format_size(bytes)).value(), bytes);
  BOOST_CHECK_EQUAL(format_size(1ull << 27), "128M");
  BOOST_CHECK_EQUAL(format_size(1025), "1025");
}

BOOST_AUTO_TEST_CASE(times_are_seconds_or_have_a_unit) {
  BOOST_CHECK(parse_duration("10").value() == 10s);
  BOOST_CHECK(parse_duration("0.5").value() == 500ms);
  BOOST_CHECK(parse_duration("5us").value() == 5us);
  BOOST_CHECK(parse_duration("2m").value() == 2min);
  for (const char* text : {"", "-1", "abc", "5 parsecs", "1e300", "nan", "inf"})
    BOOST_CHECK_MESSAGE(!parse_duration(text), text);
}

BOOST_AUTO_TEST_CASE(rates_are_bytes_or_bits_per_second) {
  BOOST_CHECK_EQUAL(parse_rate("25GB/s").value(), 25'000'000'000u);
  BOOST_CHECK_EQUAL(parse_rate("1MiB/s").value(), 1'048'576u);
  BOOST_CHECK_EQUAL(parse_rate("200Gbit/s").value(), 25'000'000'000u);
  BOOST_CHECK_EQUAL(parse_rate("12.5GB/s").value(), 12'500'000'000u);
  for (const char* text : {"", "25GB", "0GB/s", "-1GB/s", "1e30GB/s", "nanGB/s", "Gbit/s", "fast"})
    BOOST_CHECK_MESSAGE(!parse_rate(text), text);
}
