#pragma once

#include <cstddef>
#include <cstdint>

#include "collectives/reduction/detail/half_vectors.hpp"
#include "collectives/reduction/detail/loop_bodies.hpp"
#include "collectives/reduction/detail/small_float.hpp"

/// Runs of float16 and float8 to float32 and back: with the processor's float16 where there is one,
/// else value by value as in small_float.hpp, in loops that the compiler vectorises. Both give the
/// same bits. Internal linkage for the reason given in loop_bodies.hpp.
namespace troupe::collectives::detail {
namespace {

using float16_format = small_float<std::uint16_t, 5, 10, true>;
using float8_e5m2_format = small_float<std::uint8_t, 5, 2, true>;
using float8_e4m3_format = small_float<std::uint8_t, 4, 3, false>;

#ifdef __F16C__

/// A vector of codes to float32 and back, for each format.
template <class Format>
struct code_vectors;

template <>
struct code_vectors<float16_format> {
  static floats load(const std::byte* from) { return floats_of_halves(load_16(from)); }
  static void store(std::byte* to, floats values) {
    store_16(to, halves_of<_MM_FROUND_TO_NEAREST_INT>(with_canonical_nan(values)));
  }
};

/// The upper half of a float16.
template <>
struct code_vectors<float8_e5m2_format> {
  static floats load(const std::byte* from) { return floats_of_halves(up<8>(load_8(from))); }
  static void store(std::byte* to, floats values) {
    const codes halves = odd_halves(with_canonical_nan(values));
    const codes odd = both(down<8>(halves), same(1));
    store_8(to, down<8>(sum(halves, sum(odd, same(0x7f)))));
  }
};

/// A float16 of the same mantissa and exponent is worth 2^-8 of it, as the biases are 15 and 7.
template <>
struct code_vectors<float8_e4m3_format> {
  static constexpr int largest = 0x7e;
  static constexpr int nan = 0x7f;

  static floats load(const std::byte* from) {
    const codes shifted = up<7>(load_8(from));
    const codes magnitude = both(shifted, same(0x3f80));
    const codes half = both(shifted, same(0xbf80));
    return scaled(floats_of_halves(where_equal(magnitude, same(nan << 7), same(0x7e00), half)),
                  256.0f);
  }
  /// A NaN has the largest magnitudes, whatever its payload: it needs no care beside what is too
  /// large.
  static void store(std::byte* to, floats values) {
    const codes halves = odd_halves(scaled(values, 1 / 256.0f));
    const codes magnitude = both(halves, same(0x7fff));
    const codes sign = down<8>(both(halves, same(0x8000)));
    const codes odd = both(down<7>(magnitude), same(1));
    const codes rounded = down<7>(sum(magnitude, sum(odd, same(0x3f))));
    store_8(to, where_above(rounded, same(largest), same(nan), either(rounded, sign)));
  }
};

template <class Format>
void load_run(float* values, const std::byte* from, std::size_t count) {
  constexpr std::size_t code_bytes = sizeof(typename Format::storage);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    store_floats(values + i, code_vectors<Format>::load(from + i * code_bytes));
  if (i == count) return;
  std::byte last[lanes * code_bytes]{};
  __builtin_memcpy(last, from + i * code_bytes, (count - i) * code_bytes);
  store_floats(values + i, code_vectors<Format>::load(last));
  for (i += lanes; i < whole_vectors(count); ++i)
    values[i] = 0;
}

template <class Format>
void store_run(std::byte* to, const float* values, std::size_t count) {
  constexpr std::size_t code_bytes = sizeof(typename Format::storage);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    code_vectors<Format>::store(to + i * code_bytes, load_floats(values + i));
  if (i == count) return;
  std::byte last[lanes * code_bytes];
  code_vectors<Format>::store(last, load_floats(values + i));
  __builtin_memcpy(to + i * code_bytes, last, (count - i) * code_bytes);
}

#else

template <class Format>
void load_run(float* values, const std::byte* from, std::size_t count) {
  using code = typename Format::storage;
  for (std::size_t i = 0; i < count; ++i)
    values[i] = Format::load(read_at<code>(from + i * sizeof(code)));
  for (std::size_t i = count; i < whole_vectors(count); ++i)
    values[i] = 0;
}

template <class Format>
void store_run(std::byte* to, const float* values, std::size_t count) {
  using code = typename Format::storage;
  for (std::size_t i = 0; i < count; ++i)
    write_at<code>(to + i * sizeof(code), Format::store(values[i]));
}

#endif

}  // namespace
}  // namespace troupe::collectives::detail
