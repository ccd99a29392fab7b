#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "collectives/reduction/detail/loop_bodies.hpp"
#include "runtime/assert.hpp"

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
  /// Quotients up to 32 bits are exact in double: the distance of a quotient q to the next integer
  /// is at least q / 2^32 and its rounding error at most q / 2^53.
  using quotient = std::conditional_t<(sizeof(Integer) <= 4), double, Integer>;

  static void read(work* values, const std::byte* from, std::size_t bytes) {
    copy_round<round_elements<work> * sizeof(storage)>(values, from, bytes);
  }
  static void write(std::byte* to, const work* values, std::size_t bytes) {
    copy_round<round_elements<work> * sizeof(storage)>(to, values, bytes);
  }
  static work rounded(work value) { return value; }

  static work sum(work l, work r) {
    return static_cast<work>(static_cast<wide>(l) + static_cast<wide>(r));
  }
  static work product(work l, work r) {
    return static_cast<work>(static_cast<wide>(l) * static_cast<wide>(r));
  }
  static work minimum(work l, work r) { return l < r ? l : r; }
  static work maximum(work l, work r) { return l < r ? r : l; }

  /// Truncates toward zero.
  static work divided(work value, quotient divisor) {
    return static_cast<work>(static_cast<quotient>(value) / divisor);
  }
  static quotient divisor_from(std::uint32_t divisor) { return static_cast<quotient>(divisor); }

  /// Truncates toward zero, stops at the ends of the range; NaN is 0.
  static work factor_from(double scalar) {
    using limits = std::numeric_limits<Integer>;
    const double above_all = std::ldexp(1.0, limits::digits);
    if (std::isnan(scalar)) return 0;
    if (scalar >= above_all) return limits::max();
    if (scalar <= static_cast<double>(limits::min())) return limits::min();
    return static_cast<work>(scalar);
  }
};

}  // namespace

const element_loops& integer_loops(data_type type) {
  switch (type) {
    case data_type::int8: return loops_of<integer_element<std::int8_t>>;
    case data_type::uint8: return loops_of<integer_element<std::uint8_t>>;
    case data_type::int16: return loops_of<integer_element<std::int16_t>>;
    case data_type::uint16: return loops_of<integer_element<std::uint16_t>>;
    case data_type::int32: return loops_of<integer_element<std::int32_t>>;
    case data_type::uint32: return loops_of<integer_element<std::uint32_t>>;
    case data_type::int64: return loops_of<integer_element<std::int64_t>>;
    case data_type::uint64: return loops_of<integer_element<std::uint64_t>>;
    default: TROUPE_ASSERT(!"an integer type");
  }
  return loops_of<integer_element<std::uint8_t>>;
}

}  // namespace troupe::collectives::detail
