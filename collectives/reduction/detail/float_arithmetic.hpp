#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "collectives/reduction/detail/loop_bodies.hpp"

/// What of arithmetic needs care so that its outcome depends on the operands alone, not on their
/// order or on which NaN they are. Internal linkage for the reason given in loop_bodies.hpp.
namespace troupe::collectives::detail {
namespace {

template <class Float>
struct float_arithmetic {
  using bits = std::conditional_t<sizeof(Float) == 4, std::uint32_t, std::uint64_t>;

  /// Positive and quiet, without payload.
  static constexpr Float canonical_nan = std::numeric_limits<Float>::quiet_NaN();

  static Float canonical(Float value) { return value == value ? value : canonical_nan; }

  /// NaN if either is NaN; -0 is below +0. Equal operands differ in their sign at most, and only if
  /// they are zeros: OR of the bits is then the lower one, AND the higher one.
  static Float minimum(Float l, Float r) {
    const Float equal = bits_as<Float>(bits_as<bits>(l) | bits_as<bits>(r));
    const Float ordered = l < r ? l : (r < l ? r : equal);
    return either_nan(l, r) ? canonical_nan : ordered;
  }
  static Float maximum(Float l, Float r) {
    const Float equal = bits_as<Float>(bits_as<bits>(l) & bits_as<bits>(r));
    const Float ordered = l < r ? r : (r < l ? l : equal);
    return either_nan(l, r) ? canonical_nan : ordered;
  }

 private:
  static bool either_nan(Float l, Float r) {
    const bool left = l != l;
    const bool right = r != r;
    return left | right;
  }
};

}  // namespace
}  // namespace troupe::collectives::detail
