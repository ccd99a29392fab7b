// Compiled for AVX2 with a function that the linker shares: lint.variant_symbols must see it.
#include <cstddef>

template <class Number>
[[gnu::noinline]] Number shared_by_all(Number value) {
  return value + 1;
}

namespace troupe::detail::avx2 {
std::size_t planted(std::size_t value) {
  return shared_by_all(value);
}
}  // namespace troupe::detail::avx2
