#define BOOST_TEST_MODULE bench_data
#include "runtime/cli/bench_data.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <numeric>
#include <type_traits>
#include <vector>

#include "runtime/random.hpp"

using namespace troupe;
using namespace troupe::cli;

namespace {

constexpr std::size_t element_count = 300;

/// The value of a float narrower than 32 bits, decoded on its own.
double decode_narrow_float(std::uint64_t bits, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const auto mantissa = static_cast<double>(bits & ((1u << mantissa_bits) - 1));
  const auto field = static_cast<int>((bits >> mantissa_bits) & ((1u << exponent_bits) - 1));
  const bool negative = ((bits >> (exponent_bits + mantissa_bits)) & 1u) != 0;
  const double size = field == 0
                          ? std::ldexp(mantissa, 1 - bias - mantissa_bits)
                          : std::ldexp(1 + std::ldexp(mantissa, -mantissa_bits), field - bias);
  return negative ? -size : size;
}

/// How a type is read, combined in its own precision and written back.
template <class Native>
struct native_type {
  static Native read(const std::byte* at) {
    Native value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  static void write(std::byte* at, Native value) { std::memcpy(at, &value, sizeof value); }
};

template <data_type Type, int ExponentBits, int MantissaBits, std::size_t Bytes>
struct narrow_type {
  static double read(const std::byte* at) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, at, Bytes);
    return decode_narrow_float(bits, ExponentBits, MantissaBits);
  }
  static void write(std::byte* at, double value) {
    const std::uint64_t bits = encode_narrow_float(Type, value);
    std::memcpy(at, &bits, Bytes);
  }
};

template <class Value>
Value combine(reduction op, Value a, Value b) {
  switch (op) {
    case reduction::product: return static_cast<Value>(a * b);
    case reduction::minimum: return std::min(a, b);
    case reduction::maximum: return std::max(a, b);
    default: return static_cast<Value>(a + b);
  }
}

/// Reduces all inputs in the given order, every partial result rounded to the type.
template <class Access>
std::vector<std::byte> reduce(const reduction_recipe& recipe,
                              const std::vector<std::uint32_t>& order) {
  const std::size_t bytes = size_of(recipe.type);
  const reduction_data data(recipe);
  std::vector<std::byte> result(element_count * bytes);
  std::vector<std::byte> input(result.size());
  for (std::size_t turn = 0; turn < order.size(); ++turn) {
    data.fill_input(input, rank{order[turn]}, 0);
    for (std::size_t at = 0; at < input.size(); at += bytes) {
      auto value = Access::read(&input[at]);
      if (recipe.op == reduction::premultiplied_sum)
        value = static_cast<decltype(value)>(
            value * static_cast<decltype(value)>(data.scalar_of(rank{order[turn]})));
      if (turn > 0) value = combine(recipe.op, Access::read(&result[at]), value);
      Access::write(&result[at], value);
    }
  }
  if (recipe.op != reduction::average) return result;
  for (std::size_t at = 0; at < result.size(); at += bytes) {
    using value_type = decltype(Access::read(&result[at]));
    // Integers are divided as the widest type of their sign: the count does not fit int8.
    using wide_type = std::conditional_t<
        std::is_floating_point_v<value_type>, value_type,
        std::conditional_t<std::is_signed_v<value_type>, std::int64_t, std::uint64_t>>;
    const wide_type sum = Access::read(&result[at]);
    Access::write(&result[at], static_cast<value_type>(sum / static_cast<wide_type>(order.size())));
  }
  return result;
}

template <class Access>
void check_type(data_type type) {
  random_stream random(11);
  for (const std::uint32_t rank_count : {1u, 2u, 3u, 4u, 7u, 64u, 300u}) {
    for (std::size_t op = 0; op < reduction_count; ++op) {
      const reduction_recipe recipe{type, static_cast<reduction>(op), rank_count, random.next()};
      std::vector<std::uint32_t> order(rank_count);
      std::iota(order.begin(), order.end(), 0u);
      for (int round = 0; round < 2; ++round) {
        for (std::size_t i = order.size(); i > 1; --i)
          std::swap(order[i - 1], order[random.below(i)]);
        const auto result = reduce<Access>(recipe, order);
        BOOST_CHECK_MESSAGE(reduction_data(recipe).count_wrong(result, 0) == 0,
                            to_string(type) << " " << to_string(recipe.op) << " of " << rank_count
                                            << " ranks, seed " << recipe.seed);
      }
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_reduction_of_the_inputs_is_right_in_any_order_of_ranks) {
  check_type<native_type<std::int8_t>>(data_type::int8);
  check_type<native_type<std::uint8_t>>(data_type::uint8);
  check_type<native_type<std::int16_t>>(data_type::int16);
  check_type<native_type<std::uint16_t>>(data_type::uint16);
  check_type<native_type<std::int32_t>>(data_type::int32);
  check_type<native_type<std::uint32_t>>(data_type::uint32);
  check_type<native_type<std::int64_t>>(data_type::int64);
  check_type<native_type<std::uint64_t>>(data_type::uint64);
  check_type<native_type<float>>(data_type::float32);
  check_type<native_type<double>>(data_type::float64);
  check_type<narrow_type<data_type::float16, 5, 10, 2>>(data_type::float16);
  check_type<narrow_type<data_type::bfloat16, 8, 7, 2>>(data_type::bfloat16);
  check_type<narrow_type<data_type::float8_e4m3, 4, 3, 1>>(data_type::float8_e4m3);
  check_type<narrow_type<data_type::float8_e5m2, 5, 2, 1>>(data_type::float8_e5m2);
}

BOOST_AUTO_TEST_CASE(one_wrong_bit_anywhere_is_one_wrong_element) {
  const reduction_recipe recipe{data_type::float32, reduction::sum, 4, 5};
  std::vector<std::byte> result = reduce<native_type<float>>(recipe, {0, 1, 2, 3});
  const reduction_data data(recipe);
  for (std::size_t bit = 0; bit < 8 * result.size(); bit += 37) {
    result[bit / 8] ^= std::byte{1} << (bit % 8);
    BOOST_CHECK_EQUAL(data.count_wrong(result, 0), 1u);
    result[bit / 8] ^= std::byte{1} << (bit % 8);
  }
}

BOOST_AUTO_TEST_CASE(a_rank_left_out_or_counted_twice_is_seen_in_nearly_every_element) {
  const reduction_recipe recipe{data_type::float32, reduction::sum, 4, 5};
  const reduction_data data(recipe);
  BOOST_CHECK_GT(data.count_wrong(reduce<native_type<float>>(recipe, {0, 1, 2}), 0),
                 element_count * 9 / 10);
  BOOST_CHECK_GT(data.count_wrong(reduce<native_type<float>>(recipe, {0, 1, 2, 2}), 0),
                 element_count * 9 / 10);
}

BOOST_AUTO_TEST_CASE(stale_data_of_an_earlier_seed_or_another_block_is_wrong) {
  const reduction_recipe recipe{data_type::int32, reduction::sum, 3, 5};
  const auto result = reduce<native_type<std::int32_t>>(recipe, {0, 1, 2});
  reduction_recipe later = recipe;
  later.seed = 6;
  BOOST_CHECK_GT(reduction_data(later).count_wrong(result, 0), element_count * 9 / 10);
  BOOST_CHECK_GT(reduction_data(recipe).count_wrong(result, 1), element_count * 9 / 10);
}

BOOST_AUTO_TEST_CASE(elements_are_named_by_their_place_in_the_whole_buffer) {
  const reduction_data data({data_type::float32, reduction::sum, 3, 9});
  std::vector<std::byte> whole(4 * element_count);
  data.fill_input(whole, rank{1}, 0);
  std::vector<std::byte> part(4 * 100);
  data.fill_input(part, rank{1}, 150);
  BOOST_CHECK(std::memcmp(part.data(), whole.data() + 4 * 150, part.size()) == 0);
}

BOOST_AUTO_TEST_CASE(moved_bytes_differ_by_seed_rank_and_place_and_one_bit_is_seen) {
  std::vector<std::byte> bytes(100'003);
  fill_moved(bytes, 7, rank{2});
  BOOST_CHECK_EQUAL(count_wrong_moved(bytes, 7, rank{2}, 1), 0u);
  BOOST_CHECK_GT(count_wrong_moved(bytes, 8, rank{2}, 1), bytes.size() * 9 / 10);
  BOOST_CHECK_GT(count_wrong_moved(bytes, 7, rank{3}, 1), bytes.size() * 9 / 10);
  bytes.back() ^= std::byte{1};
  bytes[50'000] ^= std::byte{0x80};
  BOOST_CHECK_EQUAL(count_wrong_moved(bytes, 7, rank{2}, 1), 2u);
}

BOOST_AUTO_TEST_CASE(narrow_floats_round_to_nearest_even_into_and_out_of_subnormals) {
  // float8_e4m3: 8 values between powers of two; smallest subnormal 2^-9.
  BOOST_CHECK_EQUAL(encode_narrow_float(data_type::float8_e4m3, 448), 0x7eu);
  BOOST_CHECK_EQUAL(encode_narrow_float(data_type::float8_e4m3, 1.0625), 0x38u);  // tie, to even
  BOOST_CHECK_EQUAL(encode_narrow_float(data_type::float8_e4m3, 1.1875), 0x3au);  // tie, to even
  BOOST_CHECK_EQUAL(encode_narrow_float(data_type::float8_e4m3, 1.99), 0x40u);    // carries
  BOOST_CHECK_EQUAL(encode_narrow_float(data_type::float8_e4m3, std::ldexp(1, -9)), 0x01u);
  BOOST_CHECK_EQUAL(encode_narrow_float(data_type::float8_e4m3, -std::ldexp(1, -11)), 0x80u);
  BOOST_CHECK_EQUAL(encode_narrow_float(data_type::float16, 1), 0x3c00u);
  BOOST_CHECK_EQUAL(encode_narrow_float(data_type::bfloat16, -2), 0xc000u);
  BOOST_CHECK_EQUAL(encode_narrow_float(data_type::float8_e5m2, 57344), 0x7bu);
}
