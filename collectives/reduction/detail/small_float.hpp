#pragma once

#include <cstddef>
#include <cstdint>

#include "collectives/reduction/detail/loop_bodies.hpp"

/// Conversions between float32 and the formats of 8 and 16 bits, without branches so that loops
/// over them vectorise, and without arithmetic on subnormal float32 values, so that a thread that
/// flushes them to zero computes the same. Internal linkage for the reason given in
/// loop_bodies.hpp.
namespace troupe::collectives::detail {
namespace {

inline constexpr std::uint32_t float32_infinity = 0x7f80'0000u;
inline constexpr std::uint32_t float32_nan = 0x7fc0'0000u;
inline constexpr std::uint32_t float32_sign = 0x8000'0000u;

/// Sign, exponent, mantissa of fewer bits than float32. Formats without infinity have one NaN, the
/// largest code, and what is too large becomes NaN.
template <class Code, unsigned ExponentBits, unsigned MantissaBits, bool HasInfinity>
struct small_float {
  using storage = Code;

  static constexpr std::uint32_t bias = (1u << (ExponentBits - 1)) - 1;
  static constexpr std::uint32_t sign_shift = ExponentBits + MantissaBits;
  static constexpr std::uint32_t magnitude_mask = (1u << sign_shift) - 1;
  static constexpr std::uint32_t exponent_mask = ((1u << ExponentBits) - 1) << MantissaBits;
  static constexpr std::uint32_t nan =
      HasInfinity ? exponent_mask | (1u << (MantissaBits - 1)) : magnitude_mask;
  static constexpr std::uint32_t overflow = HasInfinity ? exponent_mask : nan;
  static constexpr std::uint32_t largest = HasInfinity ? exponent_mask - 1 : magnitude_mask - 1;
  static constexpr std::uint32_t shift = 23 - MantissaBits;
  static constexpr std::uint32_t rebias = (127 - bias) << 23;
  static constexpr std::uint32_t smallest_normal = rebias + (1u << 23);  ///< as float32
  /// A float32 whose last bit is worth the smallest subnormal: adding it rounds to that grid.
  static constexpr std::uint32_t grid = (127 + 24 - bias - MantissaBits) << 23;

  static float load(storage code) {
    const std::uint32_t value = code;
    const std::uint32_t sign = (value >> sign_shift) << 31;
    const std::uint32_t magnitude = value & magnitude_mask;
    const std::uint32_t shifted = magnitude << shift;
    const std::uint32_t normal = shifted + rebias;
    const std::uint32_t subnormal = bits_as<std::uint32_t>(
        bits_as<float>(shifted + smallest_normal) - bits_as<float>(smallest_normal));
    std::uint32_t out = (magnitude >> MantissaBits) == 0 ? subnormal : normal;
    if constexpr (HasInfinity)
      out = (magnitude & exponent_mask) == exponent_mask ? shifted | float32_infinity : out;
    else
      out = magnitude == nan ? float32_nan : out;
    return bits_as<float>(out | sign);
  }

  static storage store(float value) {
    const std::uint32_t bits = bits_as<std::uint32_t>(value);
    const std::uint32_t magnitude = bits & ~float32_sign;
    const std::uint32_t sign = (bits >> 31) << sign_shift;
    const std::uint32_t odd = (magnitude >> shift) & 1u;
    const std::uint32_t normal = (magnitude - rebias + (1u << (shift - 1)) - 1 + odd) >> shift;
    const std::uint32_t subnormal =
        bits_as<std::uint32_t>(bits_as<float>(magnitude) + bits_as<float>(grid)) - grid;
    // Signed comparisons, which vector units have from the start; all operands are positive.
    const auto below = [](std::uint32_t l, std::uint32_t r) {
      return static_cast<std::int32_t>(l) < static_cast<std::int32_t>(r);
    };
    const std::uint32_t rounded = below(largest, normal) ? overflow : normal;
    std::uint32_t out = below(magnitude, smallest_normal) ? subnormal : rounded;
    out |= sign;
    if constexpr (!HasInfinity) out = below(largest, out & magnitude_mask) ? nan : out;
    out = below(float32_infinity, magnitude) ? nan : out;
    return static_cast<storage>(out);
  }
};

/// The upper half of a float32.
struct brain_float {
  using storage = std::uint16_t;

  static float load(storage code) { return bits_as<float>(static_cast<std::uint32_t>(code) << 16); }

  static storage store(float value) {
    const std::uint32_t bits = bits_as<std::uint32_t>(value);
    const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    const std::uint32_t out = value == value ? rounded : float32_nan >> 16;
    return static_cast<storage>(out);
  }
};

/// The float32 next to a double, with the last bit set if it is not exact: rounding that to a
/// format of fewer bits gives what rounding the double would.
float round_to_odd(double value) {
  const float near = static_cast<float>(value);
  if (static_cast<double>(near) == value || value != value) return near;
  const bool outward = __builtin_fabs(static_cast<double>(near)) > __builtin_fabs(value);
  const std::uint32_t bits = bits_as<std::uint32_t>(near) - (outward ? 1u : 0u);
  return bits_as<float>(bits | 1u);
}

}  // namespace
}  // namespace troupe::collectives::detail
