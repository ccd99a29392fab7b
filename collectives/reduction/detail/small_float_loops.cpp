#include "collectives/reduction/detail/float_arithmetic.hpp"
#include "collectives/reduction/detail/loop_bodies.hpp"
#include "collectives/reduction/detail/small_float.hpp"
#include "runtime/assert.hpp"

namespace troupe::collectives::detail {

namespace {

/// Computed in float32, rounded once to nearest even when written, which makes every NaN canonical.
template <class Format>
struct small_float_element {
  using storage = typename Format::storage;
  using work = float;
  using plain = float_arithmetic<float>;

  /// Not inlined: one conversion each way per format, not per format and operator.
  [[gnu::noinline]] static void read(work* values, const std::byte* from, std::size_t bytes) {
    storage codes[round_elements<work>]{};
    copy_round<sizeof codes>(codes, from, bytes);
    for (std::size_t i = 0; i < round_elements<work>; ++i)
      values[i] = Format::load(codes[i]);
  }
  [[gnu::noinline]] static void write(std::byte* to, const work* values, std::size_t bytes) {
    storage codes[round_elements<work>];
    for (std::size_t i = 0; i < round_elements<work>; ++i)
      codes[i] = Format::store(values[i]);
    copy_round<sizeof codes>(to, codes, bytes);
  }
  static work rounded(work value) { return Format::load(Format::store(value)); }

  static work sum(work l, work r) { return l + r; }
  static work product(work l, work r) { return l * r; }
  static work minimum(work l, work r) { return plain::minimum(l, r); }
  static work maximum(work l, work r) { return plain::maximum(l, r); }
  static work divided(work value, work divisor) { return value / divisor; }
  static work divisor_from(std::uint32_t divisor) { return static_cast<work>(divisor); }
  static work factor_from(double scalar) { return rounded(round_to_odd(scalar)); }
};

}  // namespace

const element_loops& small_float_loops(data_type type) {
  switch (type) {
    case data_type::float16: return loops_of<small_float_element<float16_format>>;
    case data_type::bfloat16: return loops_of<small_float_element<brain_float>>;
    case data_type::float8_e4m3: return loops_of<small_float_element<float8_e4m3_format>>;
    case data_type::float8_e5m2: return loops_of<small_float_element<float8_e5m2_format>>;
    default: TROUPE_ASSERT(!"a floating-point type of 8 or 16 bits");
  }
  return loops_of<small_float_element<float16_format>>;
}

}  // namespace troupe::collectives::detail
