#include "collectives/reduction/detail/float_arithmetic.hpp"
#include "collectives/reduction/detail/loop_bodies.hpp"

namespace troupe::collectives::detail {

namespace {

/// Whatever is written is canonical, so that nobody sees which NaN it came from.
template <class Float>
struct float_element {
  using storage = Float;
  using work = Float;
  using plain = float_arithmetic<Float>;
  static constexpr bool in_rounds = false;

  static work load(storage value) { return value; }
  static storage store(work value) { return value; }
  static work rounded(work value) { return value; }

  static work sum(work l, work r) { return plain::canonical(l + r); }
  static work product(work l, work r) { return plain::canonical(l * r); }
  static work minimum(work l, work r) { return plain::minimum(l, r); }
  static work maximum(work l, work r) { return plain::maximum(l, r); }
  static work divided(work value, work divisor) { return plain::canonical(value / divisor); }
  static work divisor_from(std::uint32_t divisor) { return static_cast<work>(divisor); }
  static work factor_from(double scalar) { return static_cast<work>(scalar); }
};

}  // namespace

const element_loops* TROUPE_INSTRUCTION_SET::float_loops(data_type type) {
  switch (type) {
    case data_type::float32: return &loops_of<float_element<float>>;
    case data_type::float64: return &loops_of<float_element<double>>;
    default: return nullptr;
  }
}

}  // namespace troupe::collectives::detail
