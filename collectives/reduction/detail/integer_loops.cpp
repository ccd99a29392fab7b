#include <cstdint>
#include <limits>
#include <type_traits>

#include "collectives/reduction/detail/loop_bodies.hpp"

namespace troupe::collectives::detail {

namespace {

/// Integers wrap: sums and products are taken modulo 2^bits, in an unsigned type that is not
/// promoted to int.
template <class Integer>
struct integer_element {
  using storage = Integer;
  using work = Integer;
  using wide =
      std::conditional_t<(sizeof(Integer) < 4), std::uint32_t, std::make_unsigned_t<Integer>>;
  /// What quotients up to 32 bits are computed in, exactly: see `divided`.
  using real = std::conditional_t<(sizeof(Integer) <= 2), float, double>;
  using divisor = std::conditional_t<(sizeof(Integer) <= 4), real, Integer>;
  static constexpr bool in_rounds = false;

  static work load(storage value) { return value; }
  static storage store(work value) { return value; }
  static work rounded(work value) { return value; }

  static work sum(work l, work r) {
    return static_cast<work>(static_cast<wide>(l) + static_cast<wide>(r));
  }
  static work product(work l, work r) {
    return static_cast<work>(static_cast<wide>(l) * static_cast<wide>(r));
  }
  static work minimum(work l, work r) { return l < r ? l : r; }
  static work maximum(work l, work r) { return l < r ? r : l; }

  /// Truncates toward zero. Up to 32 bits by a product with the reciprocal of d: half a unit beyond
  /// the value v, the quotient is at least 1 / 2d away from any integer, while its rounding errors
  /// are below 3 v / (d * 2^24) in float (v up to 2^16) and 3 v / (d * 2^53) in double (2^32).
  static work divided(work value, divisor by) {
    if constexpr (sizeof(Integer) <= 4) {
      const real half = value < 0 ? real{-0.5} : real{0.5};
      return static_cast<work>((static_cast<real>(value) + half) * by);
    } else {
      return value / by;
    }
  }
  static divisor divisor_from(std::uint32_t count) {
    if constexpr (sizeof(Integer) <= 4)
      return real{1} / static_cast<real>(count);
    else
      return static_cast<divisor>(count);
  }

  /// Truncates toward zero, stops at the ends of the range; NaN is 0.
  static work factor_from(double scalar) {
    using limits = std::numeric_limits<Integer>;
    constexpr work most = limits::max();
    constexpr work least = limits::min();
    constexpr double above_all =
        2.0 * static_cast<double>(std::uint64_t{1} << (limits::digits - 1));
    if (scalar != scalar) return 0;
    if (scalar >= above_all) return most;
    if (scalar <= static_cast<double>(least)) return least;
    return static_cast<work>(scalar);
  }
};

}  // namespace

const element_loops* TROUPE_INSTRUCTION_SET::integer_loops(data_type type) {
  switch (type) {
    case data_type::int8: return &loops_of<integer_element<std::int8_t>>;
    case data_type::uint8: return &loops_of<integer_element<std::uint8_t>>;
    case data_type::int16: return &loops_of<integer_element<std::int16_t>>;
    case data_type::uint16: return &loops_of<integer_element<std::uint16_t>>;
    case data_type::int32: return &loops_of<integer_element<std::int32_t>>;
    case data_type::uint32: return &loops_of<integer_element<std::uint32_t>>;
    case data_type::int64: return &loops_of<integer_element<std::int64_t>>;
    case data_type::uint64: return &loops_of<integer_element<std::uint64_t>>;
    default: return nullptr;
  }
}

}  // namespace troupe::collectives::detail
