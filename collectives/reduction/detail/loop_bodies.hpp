#pragma once

#include <cstddef>
#include <cstdint>

#include "collectives/reduction/detail/element_loops.hpp"

/// The loops, for any element type. They are compiled once for each instruction set, and the linker
/// must not mix the copies: all of it has internal linkage, and nothing of the standard library is
/// called that could be emitted here. lint.variant_symbols looks.
///
/// An `Element` names the bytes of one value (`storage`) and what it is computed in (`work`). It
/// loads and stores single values, rounds one to what `storage` can hold (`rounded`), and has sum,
/// product, minimum, maximum, divided, factor_from and divisor_from. An element whose conversions
/// are too much for one loop has `in_rounds`: it loads and stores runs of values, through arrays.
namespace troupe::collectives::detail {
namespace {

/// Bits of one type as another; std::bit_cast is a function that could be emitted.
template <class To, class From>
constexpr To bits_as(From value) {
  return __builtin_bit_cast(To, value);
}

/// At any address.
template <class Storage>
Storage read_at(const std::byte* from) {
  Storage value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}

template <class Storage>
void write_at(std::byte* to, Storage value) {
  __builtin_memcpy(to, &value, sizeof value);
}

/// target[i] = body(left[i], right[i]). Operand and target are the same memory or do not touch, so
/// no element depends on another: untold, GCC would compare addresses first and give up where they
/// match.
template <class Element, class Body>
void over_two_directly(const loop_arguments& in, const Body& body) {
  using storage = typename Element::storage;
  std::byte* const target = in.target;
  const std::byte* const left = in.left;
  const std::byte* const right = in.right;
  const std::uint64_t total = in.count * sizeof(storage);
#ifndef __clang__
#pragma GCC ivdep
#endif
  for (std::uint64_t at = 0; at < total; at += sizeof(storage)) {
    const auto l = Element::load(read_at<storage>(left + at));
    const auto r = Element::load(read_at<storage>(right + at));
    write_at<storage>(target + at, Element::store(body(l, r)));
  }
}

/// target[i] = body(left[i])
template <class Element, class Body>
void over_one_directly(const loop_arguments& in, const Body& body) {
  using storage = typename Element::storage;
  std::byte* const target = in.target;
  const std::byte* const left = in.left;
  const std::uint64_t total = in.count * sizeof(storage);
#ifndef __clang__
#pragma GCC ivdep
#endif
  for (std::uint64_t at = 0; at < total; at += sizeof(storage)) {
    const auto value = Element::load(read_at<storage>(left + at));
    write_at<storage>(target + at, Element::store(body(value)));
  }
}

/// Values of a round: two arrays of 1 KiB stay in the first-level cache.
constexpr std::size_t round_elements = 256;
/// Arrays are read and written in whole vectors: what is behind the last value counts as there.
constexpr std::size_t vector_elements = 32;

constexpr std::size_t whole_vectors(std::size_t count) {
  return (count + vector_elements - 1) / vector_elements * vector_elements;
}

inline std::size_t next_round(std::uint64_t rest) {
  return rest < round_elements ? static_cast<std::size_t>(rest) : round_elements;
}

/// The same through arrays; `body(left, right, count)` leaves its outcome in `left`.
template <class Element, class Body>
void over_two_in_rounds(const loop_arguments& in, const Body& body) {
  alignas(64) float left[round_elements];
  alignas(64) float right[round_elements];
  for (std::uint64_t done = 0; done < in.count;) {
    const std::size_t count = next_round(in.count - done);
    const std::uint64_t at = done * sizeof(typename Element::storage);
    Element::load_round(left, in.left + at, count);
    Element::load_round(right, in.right + at, count);
    body(left, right, whole_vectors(count));
    Element::store_round(in.target + at, left, count);
    done += count;
  }
}

template <class Element, class Body>
void over_one_in_rounds(const loop_arguments& in, const Body& body) {
  alignas(64) float values[round_elements];
  for (std::uint64_t done = 0; done < in.count;) {
    const std::size_t count = next_round(in.count - done);
    const std::uint64_t at = done * sizeof(typename Element::storage);
    Element::load_round(values, in.left + at, count);
    for (std::size_t i = 0; i < whole_vectors(count); ++i)
      values[i] = body(values[i]);
    Element::store_round(in.target + at, values, count);
    done += count;
  }
}

template <class Element, class Body>
void over_two(const loop_arguments& in, const Body& body) {
  if constexpr (Element::in_rounds)
    over_two_in_rounds<Element>(in, [&](float* left, const float* right, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i)
        left[i] = body(left[i], right[i]);
    });
  else
    over_two_directly<Element>(in, body);
}

template <class Element, class Body>
void over_one(const loop_arguments& in, const Body& body) {
  if constexpr (Element::in_rounds)
    over_one_in_rounds<Element>(in, body);
  else
    over_one_directly<Element>(in, body);
}

template <class Element>
void sum_loop(const loop_arguments& in) {
  over_two<Element>(in, [](auto l, auto r) { return Element::sum(l, r); });
}

template <class Element>
void product_loop(const loop_arguments& in) {
  over_two<Element>(in, [](auto l, auto r) { return Element::product(l, r); });
}

template <class Element>
void minimum_loop(const loop_arguments& in) {
  over_two<Element>(in, [](auto l, auto r) { return Element::minimum(l, r); });
}

template <class Element>
void maximum_loop(const loop_arguments& in) {
  over_two<Element>(in, [](auto l, auto r) { return Element::maximum(l, r); });
}

template <class Element>
void divided_sum_loop(const loop_arguments& in) {
  const auto divisor = Element::divisor_from(in.divisor);
  over_two<Element>(
      in, [divisor](auto l, auto r) { return Element::divided(Element::sum(l, r), divisor); });
}

/// Each product is rounded to the type before the sum: the same bits as scaling the buffer first.
template <class Element>
void scaled_sum_directly(const loop_arguments& in) {
  const auto left_factor = Element::factor_from(in.left_factor);
  const auto right_factor = Element::factor_from(in.right_factor);
  over_two_directly<Element>(in, [left_factor, right_factor](auto l, auto r) {
    const auto left = Element::rounded(Element::product(l, left_factor));
    const auto right = Element::rounded(Element::product(r, right_factor));
    return Element::sum(left, right);
  });
}

template <class Element>
void scaled_sum_in_rounds(const loop_arguments& in) {
  const float left_factor = Element::factor_from(in.left_factor);
  const float right_factor = Element::factor_from(in.right_factor);
  over_two_in_rounds<Element>(in, [&](float* left, float* right, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      left[i] *= left_factor;
      right[i] *= right_factor;
    }
    Element::round_values(left, count);
    Element::round_values(right, count);
    for (std::size_t i = 0; i < count; ++i)
      left[i] += right[i];
  });
}

template <class Element>
void scaled_sum_loop(const loop_arguments& in) {
  if constexpr (Element::in_rounds)
    scaled_sum_in_rounds<Element>(in);
  else
    scaled_sum_directly<Element>(in);
}

template <class Element>
void scaled_copy_loop(const loop_arguments& in) {
  const auto factor = Element::factor_from(in.left_factor);
  over_one<Element>(in, [factor](auto value) { return Element::product(value, factor); });
}

template <class Element>
void divided_copy_loop(const loop_arguments& in) {
  const auto divisor = Element::divisor_from(in.divisor);
  over_one<Element>(in, [divisor](auto value) { return Element::divided(value, divisor); });
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
