#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "collectives/reduction/detail/element_loops.hpp"

/// The loops, for any element type. Internal linkage, as they are compiled once for each
/// instruction set and the linker must not mix the copies.
///
/// An `Element` names the bytes of one value (`storage`) and what it is computed in (`work`). It
/// reads and writes a round of values, rounds one to what `storage` can hold (`rounded`), and has
/// sum, product, minimum, maximum, divided, factor_from and divisor_from for single values.
namespace troupe::collectives::detail {
namespace {

/// Elements per round: 256 bytes of values. They pass through local arrays, which nothing else can
/// point into: so the compiler vectorises whether or not target and operands are the same, at any
/// alignment. The last round computes all of its elements too, on zeros or leftovers, and keeps
/// those that count.
template <class Work>
inline constexpr std::size_t round_elements = 256 / sizeof(Work);

/// `memcpy` that is inlined for a full round.
template <std::size_t FullBytes>
void copy_round(void* target, const void* source, std::size_t bytes) {
  if (bytes == FullBytes)
    std::memcpy(target, source, FullBytes);
  else
    std::memcpy(target, source, bytes);
}

template <class Element>
constexpr std::size_t round_bytes = round_elements<typename Element::work> *
                                    sizeof(typename Element::storage);

template <class Element>
std::size_t next_round_bytes(std::uint64_t rest) {
  return rest < round_bytes<Element> ? static_cast<std::size_t>(rest) : round_bytes<Element>;
}

/// `body(left, right)` leaves the outcome of a round in `left`.
template <class Element, class Body>
void over_two(const loop_arguments& in, const Body& body) {
  using work = typename Element::work;
  work left[round_elements<work>]{};
  work right[round_elements<work>]{};
  const std::uint64_t total = in.count * sizeof(typename Element::storage);
  for (std::uint64_t offset = 0; offset < total;) {
    const std::size_t bytes = next_round_bytes<Element>(total - offset);
    Element::read(left, in.left + offset, bytes);
    Element::read(right, in.right + offset, bytes);
    body(left, right);
    Element::write(in.target + offset, left, bytes);
    offset += bytes;
  }
}

/// `body(values)` leaves the outcome of a round in `values`.
template <class Element, class Body>
void over_one(const loop_arguments& in, const Body& body) {
  using work = typename Element::work;
  work values[round_elements<work>]{};
  const std::uint64_t total = in.count * sizeof(typename Element::storage);
  for (std::uint64_t offset = 0; offset < total;) {
    const std::size_t bytes = next_round_bytes<Element>(total - offset);
    Element::read(values, in.left + offset, bytes);
    body(values);
    Element::write(in.target + offset, values, bytes);
    offset += bytes;
  }
}

template <class Element>
void sum_loop(const loop_arguments& in) {
  over_two<Element>(in, [](auto* l, const auto* r) {
    for (std::size_t i = 0; i < round_elements<typename Element::work>; ++i)
      l[i] = Element::sum(l[i], r[i]);
  });
}

template <class Element>
void product_loop(const loop_arguments& in) {
  over_two<Element>(in, [](auto* l, const auto* r) {
    for (std::size_t i = 0; i < round_elements<typename Element::work>; ++i)
      l[i] = Element::product(l[i], r[i]);
  });
}

template <class Element>
void minimum_loop(const loop_arguments& in) {
  over_two<Element>(in, [](auto* l, const auto* r) {
    for (std::size_t i = 0; i < round_elements<typename Element::work>; ++i)
      l[i] = Element::minimum(l[i], r[i]);
  });
}

template <class Element>
void maximum_loop(const loop_arguments& in) {
  over_two<Element>(in, [](auto* l, const auto* r) {
    for (std::size_t i = 0; i < round_elements<typename Element::work>; ++i)
      l[i] = Element::maximum(l[i], r[i]);
  });
}

template <class Element>
void divided_sum_loop(const loop_arguments& in) {
  const auto divisor = Element::divisor_from(in.divisor);
  over_two<Element>(in, [divisor](auto* l, const auto* r) {
    for (std::size_t i = 0; i < round_elements<typename Element::work>; ++i)
      l[i] = Element::divided(Element::sum(l[i], r[i]), divisor);
  });
}

/// Each product is rounded to the type before the sum: the same bits as scaling the buffer first.
template <class Element>
void scaled_sum_loop(const loop_arguments& in) {
  const auto left_factor = Element::factor_from(in.left_factor);
  const auto right_factor = Element::factor_from(in.right_factor);
  over_two<Element>(in, [left_factor, right_factor](auto* l, auto* r) {
    for (std::size_t i = 0; i < round_elements<typename Element::work>; ++i) {
      l[i] = Element::rounded(Element::product(l[i], left_factor));
      r[i] = Element::rounded(Element::product(r[i], right_factor));
      l[i] = Element::sum(l[i], r[i]);
    }
  });
}

template <class Element>
void scaled_copy_loop(const loop_arguments& in) {
  const auto factor = Element::factor_from(in.left_factor);
  over_one<Element>(in, [factor](auto* values) {
    for (std::size_t i = 0; i < round_elements<typename Element::work>; ++i)
      values[i] = Element::product(values[i], factor);
  });
}

template <class Element>
void divided_copy_loop(const loop_arguments& in) {
  const auto divisor = Element::divisor_from(in.divisor);
  over_one<Element>(in, [divisor](auto* values) {
    for (std::size_t i = 0; i < round_elements<typename Element::work>; ++i)
      values[i] = Element::divided(values[i], divisor);
  });
}

template <class Element>
constexpr element_loops loops_of{
    .sum = sum_loop<Element>,
    .product = product_loop<Element>,
    .minimum = minimum_loop<Element>,
    .maximum = maximum_loop<Element>,
    .divided_sum = divided_sum_loop<Element>,
    .scaled_sum = scaled_sum_loop<Element>,
    .scaled_copy = scaled_copy_loop<Element>,
    .divided_copy = divided_copy_loop<Element>,
};

}  // namespace
}  // namespace troupe::collectives::detail
