#define BOOST_TEST_MODULE combine_bytes
#include "collectives/reduction/combine_bytes.hpp"

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "runtime/random.hpp"
#include "tests/reference/element_reference.hpp"
#include "tests/unit/collectives/reduction_cases.hpp"

using namespace troupe;
using namespace troupe::test;
using collectives::combine_bytes;
using collectives::combine_rule;
using collectives::copy_bytes;

namespace {

void check_combined(const combine_rule& rule, const std::vector<std::byte>& left,
                    const std::vector<std::byte>& right, const std::byte* outcome) {
  const std::uint64_t count = left.size() / size_of(rule.type);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t l = reference::read_element(rule.type, left.data(), i);
    const std::uint64_t r = reference::read_element(rule.type, right.data(), i);
    const std::uint64_t expected = reference::combine_element(rule, l, r);
    const std::uint64_t got = reference::read_element(rule.type, outcome, i);
    if (got != expected)
      BOOST_ERROR(describe(rule) << ": " << std::hex << l << " and " << r << " gave " << got
                                 << " instead of " << expected);
  }
}

void check_sum(data_type type, double l, double r, double expected) {
  const combine_rule rule{.type = type};
  std::byte left[8], right[8], target[8];
  reference::write_element(type, left, 0, reference::encode(type, l));
  reference::write_element(type, right, 0, reference::encode(type, r));
  combine_bytes(rule, target, left, right, 1);
  BOOST_TEST(reference::read_element(type, target, 0) == reference::encode(type, expected),
             to_string(type) << " " << l << " + " << r);
}

template <class Integer>
Integer average_of(Integer l, Integer r) {
  combine_rule rule{.type = data_type::int32, .op = reduction::average, .divisor = 2};
  rule.divide = true;
  Integer out = 0;
  combine_bytes(rule, reinterpret_cast<std::byte*>(&out), reinterpret_cast<const std::byte*>(&l),
                reinterpret_cast<const std::byte*>(&r), 1);
  return out;
}

/// What a scalar becomes in the type: 1 multiplied by it.
std::uint64_t converted_scalar(data_type type, double scalar) {
  combine_rule rule{.type = type, .op = reduction::premultiplied_sum, .scalar = scalar};
  rule.scale_left = true;
  std::byte one[8], out[8];
  reference::write_element(type, one, 0, reference::encode(type, 1.0));
  copy_bytes(rule, out, one, 1);
  return reference::read_element(type, out, 0);
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_type_and_operator_agrees_with_the_reference) {
  random_stream random(1);
  for (const data_type type : all_types()) {
    for (const combine_rule& rule : all_rules(type, random)) {
      for (const std::uint64_t count : {0, 1, 3, 31, 64, 65, 256, 257, 1000}) {
        const auto left = draw_buffer(type, count, random);
        const auto right = draw_buffer(type, count, random);
        std::vector<std::byte> target(left.size());
        combine_bytes(rule, target.data(), left.data(), right.data(), count);
        check_combined(rule, left, right, target.data());
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(the_target_may_be_an_operand_at_any_alignment) {
  random_stream random(4);
  constexpr std::uint64_t count = 333;
  for (const data_type type : all_types()) {
    for (std::size_t shift = 0; shift < 9; ++shift) {
      const combine_rule rule{.type = type};
      const auto left = draw_buffer(type, count, random);
      const auto right = draw_buffer(type, count, random);
      std::vector<std::byte> mine(left.size() + 32, std::byte{0xa5});
      auto* const place = mine.data() + 8 + shift;
      std::memcpy(place, left.data(), left.size());
      combine_bytes(rule, place, place, right.data(), count);
      check_combined(rule, left, right, place);
      std::memcpy(place, right.data(), right.size());
      combine_bytes(rule, place, left.data(), place, count);
      check_combined(rule, left, right, place);
      for (std::size_t i = 0; i < 8 + shift; ++i)
        BOOST_REQUIRE(mine[i] == std::byte{0xa5});
      for (std::size_t i = 8 + shift + left.size(); i < mine.size(); ++i)
        BOOST_REQUIRE(mine[i] == std::byte{0xa5});
    }
  }
}

BOOST_AUTO_TEST_CASE(operands_may_change_places) {
  random_stream random(5);
  for (const data_type type : all_types()) {
    for (std::size_t op = 0; op < 4; ++op) {
      const combine_rule rule{.type = type, .op = static_cast<reduction>(op)};
      const auto left = draw_buffer(type, 4096, random);
      const auto right = draw_buffer(type, 4096, random);
      std::vector<std::byte> one(left.size()), other(left.size());
      combine_bytes(rule, one.data(), left.data(), right.data(), 4096);
      combine_bytes(rule, other.data(), right.data(), left.data(), 4096);
      BOOST_TEST((one == other), describe(rule));
    }
  }
}

BOOST_AUTO_TEST_CASE(copies_scale_divide_or_keep_the_bits) {
  random_stream random(6);
  for (const data_type type : all_types()) {
    for (combine_rule rule : all_rules(type, random)) {
      rule.scale_left = rule.op == reduction::premultiplied_sum;
      rule.scale_right = false;
      const auto source = draw_buffer(type, 200, random);
      std::vector<std::byte> target(source.size());
      copy_bytes(rule, target.data(), source.data(), 200);
      for (std::uint64_t i = 0; i < 200; ++i) {
        const std::uint64_t code = reference::read_element(type, source.data(), i);
        BOOST_TEST(
            reference::read_element(type, target.data(), i) == reference::copy_element(rule, code),
            describe(rule) << " of " << code);
      }
      auto in_place = source;
      copy_bytes(rule, in_place.data(), in_place.data(), 200);
      BOOST_TEST((in_place == target), describe(rule));
    }
  }
}

BOOST_AUTO_TEST_CASE(scaling_in_the_combine_equals_scaling_the_buffer_first) {
  random_stream random(7);
  for (const data_type type : all_types()) {
    combine_rule scaled{.type = type, .op = reduction::premultiplied_sum, .scalar = 0.7};
    const combine_rule plain = scaled;
    const auto left = draw_buffer(type, 500, random);
    const auto right = draw_buffer(type, 500, random);
    std::vector<std::byte> one(left.size()), other(left.size());
    scaled.scale_right = true;
    combine_bytes(scaled, one.data(), left.data(), right.data(), 500);
    scaled.scale_right = false;
    scaled.scale_left = true;
    copy_bytes(scaled, other.data(), right.data(), 500);
    combine_bytes(plain, other.data(), left.data(), other.data(), 500);
    BOOST_TEST((one == other), to_string(type));
  }
}

BOOST_AUTO_TEST_CASE(scalars_round_to_the_nearest_value_of_the_type_and_ties_to_even) {
  for (const data_type type :
       {data_type::float8_e4m3, data_type::float8_e5m2, data_type::float16, data_type::bfloat16}) {
    const std::uint64_t codes = std::uint64_t{1} << (8 * size_of(type) - 1);
    for (std::uint64_t code = 0; code + 1 < codes; ++code) {
      const double here = reference::decode(type, code);
      const double next = reference::decode(type, code + 1);
      if (!std::isfinite(here) || !std::isfinite(next)) continue;
      const double middle = here + (next - here) / 2;
      const std::uint64_t even = code % 2 == 0 ? code : code + 1;
      BOOST_REQUIRE_EQUAL(converted_scalar(type, here), code);
      BOOST_REQUIRE_EQUAL(converted_scalar(type, middle), even);
      BOOST_REQUIRE_EQUAL(converted_scalar(type, std::nextafter(middle, 0)), code);
      BOOST_REQUIRE_EQUAL(converted_scalar(type, std::nextafter(middle, 1e300)), code + 1);
      BOOST_REQUIRE_EQUAL(converted_scalar(type, middle), reference::encode(type, middle));
    }
  }
}

BOOST_AUTO_TEST_CASE(what_overflows_is_infinite_or_nan_where_there_is_no_infinity) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  check_sum(data_type::float8_e4m3, 448, 16, 448);  // 464 is the tie, and 448 is even
  check_sum(data_type::float8_e4m3, 448, 18, nan);
  check_sum(data_type::float8_e4m3, -448, -448, nan);
  check_sum(data_type::float8_e5m2, 57'344, 3584, 57'344);
  check_sum(data_type::float8_e5m2, 57'344, 4096, inf);  // 61440 is the tie, and infinity is even
  check_sum(data_type::float16, 65'504, 8, 65'504);
  check_sum(data_type::float16, 65'504, 16, inf);
  check_sum(data_type::bfloat16, -3.3e38, -3.3e38, -inf);
  check_sum(data_type::float32, 3e38, 3e38, inf);
  check_sum(data_type::float32, inf, -inf, nan);
}

BOOST_AUTO_TEST_CASE(integers_wrap) {
  const std::int32_t most = std::numeric_limits<std::int32_t>::max();
  const std::int32_t one = 1;
  std::int32_t out = 0;
  combine_bytes({.type = data_type::int32}, reinterpret_cast<std::byte*>(&out),
                reinterpret_cast<const std::byte*>(&most), reinterpret_cast<const std::byte*>(&one),
                1);
  BOOST_TEST(out == std::numeric_limits<std::int32_t>::min());
}

BOOST_AUTO_TEST_CASE(averages_of_integers_truncate_toward_zero) {
  BOOST_TEST(average_of(1, 2) == 1);
  BOOST_TEST(average_of(-1, -2) == -1);
  BOOST_TEST(average_of(std::numeric_limits<std::int32_t>::min(), 0) == -1'073'741'824);
}

BOOST_AUTO_TEST_CASE(averages_of_32_bit_integers_are_exact_at_every_divisor_tried) {
  random_stream random(8);
  for (const data_type type : {data_type::int32, data_type::uint32}) {
    for (int i = 0; i < 2000; ++i) {
      combine_rule rule{.type = type, .op = reduction::average};
      rule.divide = true;
      rule.divisor = static_cast<std::uint32_t>(random.between(1, 1u << random.between(0, 24)));
      // Multiples of the divisor and their neighbours are where a rounded quotient would show.
      const std::uint64_t quotient = random.below((1ull << 32) / rule.divisor);
      const std::uint64_t code = (quotient * rule.divisor + random.below(3) - 1) & 0xffff'ffffu;
      std::byte left[4], right[4]{}, target[4];
      reference::write_element(type, left, 0, code);
      combine_bytes(rule, target, left, right, 1);
      BOOST_REQUIRE_EQUAL(reference::read_element(type, target, 0),
                          reference::combine_element(rule, code, 0));
    }
  }
}
