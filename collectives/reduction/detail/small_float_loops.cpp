#include "collectives/reduction/detail/float_arithmetic.hpp"
#include "collectives/reduction/detail/loop_bodies.hpp"
#include "collectives/reduction/detail/small_float.hpp"
#include "collectives/reduction/detail/small_float_rounds.hpp"

namespace troupe::collectives::detail {

namespace {

/// Computed in float32, rounded once to nearest even when written, which makes every NaN canonical.
template <class Format>
struct small_float_element {
  using storage = typename Format::storage;
  using work = float;
  using plain = float_arithmetic<float>;

  static work sum(work l, work r) { return l + r; }
  static work product(work l, work r) { return l * r; }
  static work minimum(work l, work r) { return plain::minimum(l, r); }
  static work maximum(work l, work r) { return plain::maximum(l, r); }
  static work divided(work value, work divisor) { return value / divisor; }
  static work divisor_from(std::uint32_t divisor) { return static_cast<work>(divisor); }
  static work factor_from(double scalar) {
    return Format::load(Format::store(round_to_odd(scalar)));
  }
};

/// Conversions are a shift and a rounding, which vectorise as part of the loop.
struct bfloat16_element : small_float_element<brain_float> {
  static constexpr bool in_rounds = false;

  static work load(storage code) { return brain_float::load(code); }
  static storage store(work value) { return brain_float::store(value); }
  static work rounded(work value) { return load(store(value)); }
};

/// Not inlined: one conversion each way for a format, not for a format and operator.
template <class Format>
struct round_element : small_float_element<Format> {
  static constexpr bool in_rounds = true;

  [[gnu::noinline]] static void load_round(float* values, const std::byte* from,
                                           std::size_t count) {
    load_run<Format>(values, from, count);
  }
  [[gnu::noinline]] static void store_round(std::byte* to, const float* values, std::size_t count) {
    store_run<Format>(to, values, count);
  }
  static void round_values(float* values, std::size_t count) {
    std::byte codes[round_elements * sizeof(typename Format::storage)];
    store_round(codes, values, count);
    load_round(values, codes, count);
  }
};

}  // namespace

const element_loops* TROUPE_INSTRUCTION_SET::small_float_loops(data_type type) {
  switch (type) {
    case data_type::float16: return &loops_of<round_element<float16_format>>;
    case data_type::bfloat16: return &loops_of<bfloat16_element>;
    case data_type::float8_e4m3: return &loops_of<round_element<float8_e4m3_format>>;
    case data_type::float8_e5m2: return &loops_of<round_element<float8_e5m2_format>>;
    default: return nullptr;
  }
}

}  // namespace troupe::collectives::detail
