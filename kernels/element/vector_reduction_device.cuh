#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/element/element_device.cuh"

namespace troupe::kernels {

/// 16 bytes.
struct alignas(16) vector_bytes {
  std::uint32_t words[4];
};

/// Vectors of each contribution that a thread has in flight. Eight are 64 KiB a block, what one
/// multiprocessor needs to read a peer as fast as it can; small floats need registers for their
/// conversions instead.
template <class Element>
constexpr int vectors_in_flight = sizeof(typename Element::storage) >= 4   ? 8
                                  : sizeof(typename Element::storage) == 2 ? 4
                                                                           : 2;

__device__ inline vector_bytes load_vector(const std::byte* from) {
  vector_bytes value;
  // Each line is used once: it may stay out of the first-level cache.
  asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.words[0]), "=r"(value.words[1]), "=r"(value.words[2]),
                 "=r"(value.words[3])
               : "l"(from)
               : "memory");
  return value;
}

__device__ inline void store_vector(std::byte* to, const vector_bytes& value) {
  asm volatile("st.global.L1::no_allocate.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to),
               "r"(value.words[0]), "r"(value.words[1]), "r"(value.words[2]), "r"(value.words[3])
               : "memory");
}

/// Kernels are compiled for what is hot, sums, and for any rule, which they ask at each element.
enum class rule_kind { plain_sum, any };

/// Types that are summed often enough for kernels of their own: all but integers of up to 32 bits
/// and floats of 8.
template <class Element>
constexpr rule_kind kind_for_sums = sizeof(typename Element::storage) == 8 ||
                                            (std::is_floating_point_v<typename Element::work> &&
                                             sizeof(typename Element::storage) >= 2)
                                        ? rule_kind::plain_sum
                                        : rule_kind::any;

template <class Element, rule_kind Kind>
struct vector_reduction {
  using storage = typename Element::storage;
  using work = typename Element::work;
  static constexpr int elements = 16 / sizeof(storage);
  static constexpr int vectors = vectors_in_flight<Element>;

  element_rule rule;
  work factor;

  __device__ explicit vector_reduction(const element_rule& how)
      : rule(how), factor(Element::factor_from(how.scalar)) {}

  __device__ work enter(storage value) const {
    const work loaded = Element::load(value);
    return Kind == rule_kind::any ? entering<Element>(rule, factor, loaded) : loaded;
  }
  __device__ storage leave(work value) const {
    return Kind == rule_kind::any ? leaving<Element>(rule, value) : Element::store(value);
  }
  __device__ work join(work l, work r) const {
    return Kind == rule_kind::any ? combined<Element>(rule.op, l, r) : Element::sum(l, r);
  }

  /// The elements of one vector of two members.
  __device__ vector_bytes of_two(const vector_bytes& left, const vector_bytes& right) const {
    const auto l = bits_as<lanes>(left);
    const auto r = bits_as<lanes>(right);
    lanes out;
#pragma unroll
    for (int i = 0; i < elements; ++i)
      out.value[i] = leave(join(enter(l.value[i]), enter(r.value[i])));
    return bits_as<vector_bytes>(out);
  }
  __device__ void begin(work* values, const vector_bytes& vector) const {
    const auto from = bits_as<lanes>(vector);
#pragma unroll
    for (int i = 0; i < elements; ++i)
      values[i] = enter(from.value[i]);
  }
  __device__ void add(work* values, const vector_bytes& vector) const {
    const auto from = bits_as<lanes>(vector);
#pragma unroll
    for (int i = 0; i < elements; ++i)
      values[i] = join(values[i], enter(from.value[i]));
  }
  __device__ vector_bytes finish(const work* values) const {
    lanes out;
#pragma unroll
    for (int i = 0; i < elements; ++i)
      out.value[i] = leave(values[i]);
    return bits_as<vector_bytes>(out);
  }

 private:
  struct alignas(16) lanes {
    storage value[elements];
  };
};

}  // namespace troupe::kernels
