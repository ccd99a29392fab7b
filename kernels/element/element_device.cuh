#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/host_device.hpp"
#include "runtime/data_type.hpp"

/// Arithmetic of one element, by the rules of docs/algorithms.md: integers wrap, small floats are
/// computed in float32 and rounded once to nearest even, every NaN that is written is the type's
/// canonical one, minimum and maximum order -0 below +0. The bits are those of the host's loops.
namespace troupe::kernels {

template <class To, class From>
TROUPE_HOST_DEVICE constexpr To bits_as(From value) {
  return __builtin_bit_cast(To, value);
}

/// Integers: sums and products modulo 2^bits.
template <class Integer>
struct integer_element {
  using storage = Integer;
  using work = Integer;
  using wide =
      std::conditional_t<(sizeof(Integer) < 4), std::uint32_t, std::make_unsigned_t<Integer>>;

  TROUPE_HOST_DEVICE static work load(storage value) { return value; }
  TROUPE_HOST_DEVICE static storage store(work value) { return value; }
  TROUPE_HOST_DEVICE static work sum(work l, work r) {
    return static_cast<work>(static_cast<wide>(l) + static_cast<wide>(r));
  }
  TROUPE_HOST_DEVICE static work product(work l, work r) {
    return static_cast<work>(static_cast<wide>(l) * static_cast<wide>(r));
  }
  TROUPE_HOST_DEVICE static work minimum(work l, work r) { return l < r ? l : r; }
  TROUPE_HOST_DEVICE static work maximum(work l, work r) { return l < r ? r : l; }
  /// Truncates toward zero. A count that the type cannot hold is larger than every value of it.
  TROUPE_HOST_DEVICE static work divided(work value, std::uint32_t by) {
    using quotient = std::conditional_t<std::is_signed_v<Integer>, std::int64_t, std::uint64_t>;
    return static_cast<work>(static_cast<quotient>(value) / static_cast<quotient>(by));
  }
  TROUPE_HOST_DEVICE static work scaled(work value, work factor) { return product(value, factor); }

  /// Truncates toward zero, stops at the ends of the range; NaN is 0.
  TROUPE_HOST_DEVICE static work factor_from(double scalar) {
    constexpr bool is_signed = std::is_signed_v<Integer>;
    constexpr int digits = 8 * static_cast<int>(sizeof(Integer)) - (is_signed ? 1 : 0);
    constexpr auto most = static_cast<Integer>(~std::uint64_t{0} >> (64 - digits));
    constexpr auto least = static_cast<Integer>(is_signed ? -most - 1 : 0);
    constexpr double above_all = 2.0 * static_cast<double>(std::uint64_t{1} << (digits - 1));
    if (scalar != scalar) return 0;
    if (scalar >= above_all) return most;
    if (scalar <= static_cast<double>(least)) return least;
    return static_cast<work>(scalar);
  }
};

template <class Float>
struct float_arithmetic {
  using bits = std::conditional_t<sizeof(Float) == 4, std::uint32_t, std::uint64_t>;

  TROUPE_HOST_DEVICE static Float not_a_number() {
    if constexpr (sizeof(Float) == 4)
      return bits_as<Float>(0x7fc0'0000u);
    else
      return bits_as<Float>(std::uint64_t{0x7ff8'0000'0000'0000});
  }
  TROUPE_HOST_DEVICE static Float canonical(Float value) {
    return value == value ? value : not_a_number();
  }
  TROUPE_HOST_DEVICE static Float minimum(Float l, Float r) {
    if (l != l || r != r) return not_a_number();
    if (l == r) return bits_as<Float>(static_cast<bits>(bits_as<bits>(l) | bits_as<bits>(r)));
    return l < r ? l : r;
  }
  TROUPE_HOST_DEVICE static Float maximum(Float l, Float r) {
    if (l != l || r != r) return not_a_number();
    if (l == r) return bits_as<Float>(static_cast<bits>(bits_as<bits>(l) & bits_as<bits>(r)));
    return l < r ? r : l;
  }
};

/// float32 and float64.
template <class Float>
struct float_element {
  using storage = Float;
  using work = Float;
  using plain = float_arithmetic<Float>;

  TROUPE_HOST_DEVICE static work load(storage value) { return value; }
  TROUPE_HOST_DEVICE static storage store(work value) { return plain::canonical(value); }
  TROUPE_HOST_DEVICE static work sum(work l, work r) { return l + r; }
  TROUPE_HOST_DEVICE static work product(work l, work r) { return l * r; }
  TROUPE_HOST_DEVICE static work minimum(work l, work r) { return plain::minimum(l, r); }
  TROUPE_HOST_DEVICE static work maximum(work l, work r) { return plain::maximum(l, r); }
  TROUPE_HOST_DEVICE static work divided(work value, std::uint32_t by) {
    return value / static_cast<work>(by);
  }
  TROUPE_HOST_DEVICE static work scaled(work value, work factor) {
#ifdef __CUDA_ARCH__
    // A product of its own, which no compiler joins with the sum that follows.
    if constexpr (sizeof(Float) == 4)
      return __fmul_rn(value, factor);
    else
      return __dmul_rn(value, factor);
#else
    return value * factor;
#endif
  }
  TROUPE_HOST_DEVICE static work factor_from(double scalar) {
    return static_cast<work>(scalar);
  }
};

/// Sign, exponent, mantissa of at most 16 bits. Formats without infinity have one NaN, the largest
/// code, and what is too large becomes NaN.
template <class Code, unsigned ExponentBits, unsigned MantissaBits, bool HasInfinity>
struct narrow_float {
  using storage = Code;

  static constexpr std::uint32_t width = 1 + ExponentBits + MantissaBits;
  static constexpr std::uint32_t bias = (1u << (ExponentBits - 1)) - 1;
  static constexpr std::uint32_t all = (1u << (width - 1)) - 1;
  static constexpr std::uint32_t infinity = ((1u << ExponentBits) - 1) << MantissaBits;
  static constexpr std::uint32_t nan = HasInfinity ? infinity | (1u << (MantissaBits - 1)) : all;
  static constexpr std::uint32_t largest = (HasInfinity ? infinity : all) - 1;
  static constexpr std::uint32_t dropped = 23 - MantissaBits;

  TROUPE_HOST_DEVICE static float load(Code code) {
    const std::uint32_t magnitude = code & all;
    const std::uint32_t sign = static_cast<std::uint32_t>(code >> (width - 1)) << 31;
    if (HasInfinity ? magnitude > infinity : magnitude == all)
      return bits_as<float>(0x7fc0'0000u | sign);
    if (HasInfinity && magnitude == infinity) return bits_as<float>(0x7f80'0000u | sign);
    // The exponent's field as a float32 of a smaller bias, then scaled up, which also makes numbers
    // of what was subnormal.
    const float scale = bits_as<float>((254u - bias) << 23);
    const float small = bits_as<float>(magnitude << dropped);
    return bits_as<float>(bits_as<std::uint32_t>(small * scale) | sign);
  }

  TROUPE_HOST_DEVICE static Code store(float value) {
    const std::uint32_t bits = bits_as<std::uint32_t>(value);
    const std::uint32_t magnitude = bits & 0x7fff'ffffu;
    const std::uint32_t sign = (bits >> 31) << (width - 1);
    if (magnitude > 0x7f80'0000u) return static_cast<Code>(nan);
    constexpr std::uint32_t smallest_normal = (128u - bias) << 23;
    std::uint32_t code;
    if (magnitude < smallest_normal) {
      // Adding a number whose last bit is worth the smallest subnormal rounds to that grid.
      constexpr std::uint32_t grid = (127 + 24 - bias - MantissaBits) << 23;
      code = bits_as<std::uint32_t>(bits_as<float>(magnitude) + bits_as<float>(grid)) - grid;
    } else {
      const std::uint32_t odd = (magnitude >> dropped) & 1u;
      const std::uint32_t rounded = magnitude + (1u << (dropped - 1)) - 1 + odd;
      code = (rounded - ((127u - bias) << 23)) >> dropped;
      if (code > largest) {
        if (!HasInfinity) return static_cast<Code>(nan);
        code = infinity;
      }
    }
    return static_cast<Code>(code | sign);
  }
};

/// The upper half of a float32.
struct brain_float {
  using storage = std::uint16_t;

  TROUPE_HOST_DEVICE static float load(storage code) {
    return bits_as<float>(static_cast<std::uint32_t>(code) << 16);
  }
  TROUPE_HOST_DEVICE static storage store(float value) {
    const std::uint32_t bits = bits_as<std::uint32_t>(value);
    if (value != value) return 0x7fc0;
    return static_cast<storage>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
  }
};

/// Computed in float32, rounded once when written.
template <class Format>
struct small_float_element {
  using storage = typename Format::storage;
  using work = float;
  using plain = float_arithmetic<float>;

  TROUPE_HOST_DEVICE static work load(storage code) { return Format::load(code); }
  TROUPE_HOST_DEVICE static storage store(work value) { return Format::store(value); }
  TROUPE_HOST_DEVICE static work sum(work l, work r) { return l + r; }
  TROUPE_HOST_DEVICE static work product(work l, work r) { return l * r; }
  TROUPE_HOST_DEVICE static work minimum(work l, work r) { return plain::minimum(l, r); }
  TROUPE_HOST_DEVICE static work maximum(work l, work r) { return plain::maximum(l, r); }
  TROUPE_HOST_DEVICE static work divided(work value, std::uint32_t by) {
    return value / static_cast<float>(by);
  }
  /// Rounded to the type before it is added to anything: as if the buffer had been scaled first.
  TROUPE_HOST_DEVICE static work scaled(work value, work factor) {
    return load(store(value * factor));
  }
  TROUPE_HOST_DEVICE static work factor_from(double scalar) {
    // The float32 next to it with the last bit set if that is not exact: rounding it to fewer bits
    // gives what rounding the double would.
    const float near = static_cast<float>(scalar);
    if (static_cast<double>(near) == scalar || scalar != scalar) return load(store(near));
    const double magnitude = scalar < 0 ? -scalar : scalar;
    const double rounded = near < 0 ? -static_cast<double>(near) : static_cast<double>(near);
    const std::uint32_t bits = bits_as<std::uint32_t>(near) - (rounded > magnitude ? 1u : 0u);
    return load(store(bits_as<float>(bits | 1u)));
  }
};

template <data_type Type>
struct element_of;
template <>
struct element_of<data_type::int8> : integer_element<std::int8_t> {};
template <>
struct element_of<data_type::uint8> : integer_element<std::uint8_t> {};
template <>
struct element_of<data_type::int16> : integer_element<std::int16_t> {};
template <>
struct element_of<data_type::uint16> : integer_element<std::uint16_t> {};
template <>
struct element_of<data_type::int32> : integer_element<std::int32_t> {};
template <>
struct element_of<data_type::uint32> : integer_element<std::uint32_t> {};
template <>
struct element_of<data_type::int64> : integer_element<std::int64_t> {};
template <>
struct element_of<data_type::uint64> : integer_element<std::uint64_t> {};
template <>
struct element_of<data_type::float16>
    : small_float_element<narrow_float<std::uint16_t, 5, 10, true>> {};
template <>
struct element_of<data_type::bfloat16> : small_float_element<brain_float> {};
template <>
struct element_of<data_type::float32> : float_element<float> {};
template <>
struct element_of<data_type::float64> : float_element<double> {};
template <>
struct element_of<data_type::float8_e4m3>
    : small_float_element<narrow_float<std::uint8_t, 4, 3, false>> {};
template <>
struct element_of<data_type::float8_e5m2>
    : small_float_element<narrow_float<std::uint8_t, 5, 2, true>> {};

/// What is done to elements on their way: how two become one, and what happens before and after.
struct element_rule {
  reduction op = reduction::sum;
  double scalar = 1.0;        ///< premultiplied_sum: every contribution is multiplied by it first
  std::uint32_t divisor = 1;  ///< average: number of contributors
};

/// A contribution as it enters the reduction.
template <class Element>
TROUPE_HOST_DEVICE typename Element::work entering(const element_rule& rule,
                                                   typename Element::work factor,
                                                   typename Element::work value) {
  return rule.op == reduction::premultiplied_sum ? Element::scaled(value, factor) : value;
}

template <class Element>
TROUPE_HOST_DEVICE typename Element::work combined(reduction op, typename Element::work l,
                                                   typename Element::work r) {
  switch (op) {
    case reduction::product: return Element::product(l, r);
    case reduction::minimum: return Element::minimum(l, r);
    case reduction::maximum: return Element::maximum(l, r);
    default: return Element::sum(l, r);
  }
}

/// The outcome as it is written.
template <class Element>
TROUPE_HOST_DEVICE typename Element::storage leaving(const element_rule& rule,
                                                     typename Element::work value) {
  if (rule.op == reduction::average) value = Element::divided(value, rule.divisor);
  return Element::store(value);
}

}  // namespace troupe::kernels
