#include "collectives/reduction/detail/float_arithmetic.hpp"
#include "collectives/reduction/detail/loop_bodies.hpp"
#include "runtime/assert.hpp"

namespace troupe::collectives::detail {

namespace {

/// Whatever is written is canonical, so that nobody sees which NaN it came from.
template <class Float>
struct float_element {
  using storage = Float;
  using work = Float;
  using plain = float_arithmetic<Float>;

  static void read(work* values, const std::byte* from, std::size_t bytes) {
    copy_round<round_elements<work> * sizeof(storage)>(values, from, bytes);
  }
  static void write(std::byte* to, const work* values, std::size_t bytes) {
    copy_round<round_elements<work> * sizeof(storage)>(to, values, bytes);
  }
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

const element_loops& float_loops(data_type type) {
  switch (type) {
    case data_type::float32: return loops_of<float_element<float>>;
    case data_type::float64: return loops_of<float_element<double>>;
    default: TROUPE_ASSERT(!"float32 or float64");
  }
  return loops_of<float_element<float>>;
}

}  // namespace troupe::collectives::detail
