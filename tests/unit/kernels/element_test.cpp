#define BOOST_TEST_MODULE element
#include <boost/test/unit_test.hpp>

#include <cstring>
#include <vector>

#include "kernels/element/element_device.cuh"
#include "kernels/element/type_table.hpp"
#include "tests/unit/collectives/reduction_cases.hpp"

/// The arithmetic of kernels, compiled for the host, against the reference of the tests.
namespace troupe::test {

namespace {

using combine = void (*)(const collectives::combine_rule&, std::byte*, const std::byte*,
                         const std::byte*, std::uint64_t);

template <data_type Type>
void combine_elements(const collectives::combine_rule& rule, std::byte* target,
                      const std::byte* left, const std::byte* right, std::uint64_t count) {
  using element = kernels::element_of<Type>;
  using storage = typename element::storage;
  const kernels::element_rule how{rule.op, rule.scalar, rule.divisor};
  const auto factor = element::factor_from(rule.scalar);
  for (std::uint64_t i = 0; i < count; ++i) {
    storage l;
    storage r;
    std::memcpy(&l, left + i * sizeof l, sizeof l);
    std::memcpy(&r, right + i * sizeof r, sizeof r);
    const auto sum = kernels::combined<element>(
        rule.op, kernels::entering<element>(how, factor, element::load(l)),
        kernels::entering<element>(how, factor, element::load(r)));
    const storage out = kernels::leaving<element>(how, sum);
    std::memcpy(target + i * sizeof out, &out, sizeof out);
  }
}

template <data_type Type>
struct combine_of {
  static combine get() { return &combine_elements<Type>; }
};

/// What a kernel does: all contributions are scaled or none, an average is always divided.
bool is_of_a_kernel(const collectives::combine_rule& rule) {
  if (rule.op == reduction::premultiplied_sum) return rule.scale_left && rule.scale_right;
  return (rule.op == reduction::average) == rule.divide;
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_type_and_operator_has_the_bits_of_the_reference) {
  random_stream random(20);
  std::size_t compared = 0;
  for (const auto type : all_types())
    for (const auto& rule : all_rules(type, random)) {
      if (!is_of_a_kernel(rule)) continue;
      const auto left = draw_buffer(type, 4'000, random);
      const auto right = draw_buffer(type, 4'000, random);
      std::vector<std::byte> out(left.size());
      kernels::of_type<combine_of>(type)(rule, out.data(), left.data(), right.data(), 4'000);
      check_equal(type, reference_combine(rule, left, right), out.data(), describe(rule));
      ++compared;
    }
  BOOST_TEST(compared >= data_type_count * reduction_count);
}

BOOST_AUTO_TEST_CASE(special_values_of_every_type_meet_each_other) {
  random_stream random(21);
  for (const auto type : all_types()) {
    const auto codes = special_codes(type);
    const auto size = size_of(type);
    std::vector<std::byte> left;
    std::vector<std::byte> right;
    for (const auto l : codes)
      for (const auto r : codes) {
        left.insert(left.end(), reinterpret_cast<const std::byte*>(&l),
                    reinterpret_cast<const std::byte*>(&l) + size);
        right.insert(right.end(), reinterpret_cast<const std::byte*>(&r),
                     reinterpret_cast<const std::byte*>(&r) + size);
      }
    for (const auto& rule : all_rules(type, random)) {
      if (!is_of_a_kernel(rule)) continue;
      std::vector<std::byte> out(left.size());
      kernels::of_type<combine_of>(type)(rule, out.data(), left.data(), right.data(),
                                         left.size() / size);
      check_equal(type, reference_combine(rule, left, right), out.data(), describe(rule));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_type_outside_the_list_has_no_entry) {
  BOOST_TEST(kernels::of_type<combine_of>(static_cast<data_type>(99)) == nullptr);
}

}  // namespace troupe::test
