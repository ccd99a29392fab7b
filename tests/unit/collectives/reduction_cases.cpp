#include "tests/unit/collectives/reduction_cases.hpp"

#include <boost/test/unit_test.hpp>

#include <cstring>
#include <limits>
#include <sstream>

#include "tests/reference/element_reference.hpp"

namespace troupe::test {

using collectives::combine_rule;

std::vector<data_type> all_types() {
  std::vector<data_type> out;
  for (std::size_t i = 0; i < data_type_count; ++i)
    out.push_back(static_cast<data_type>(i));
  return out;
}

std::vector<combine_rule> all_rules(data_type type, random_stream& random) {
  std::vector<combine_rule> out;
  for (std::size_t i = 0; i < reduction_count; ++i)
    out.push_back({.type = type, .op = static_cast<reduction>(i)});
  for (std::uint32_t divisor : {1u, 2u, 3u, 7u, 300u, 70'000u})
    out.push_back({.type = type, .op = reduction::average, .divisor = divisor, .divide = true});
  for (double scalar : {0.0, 1.0, -2.0, 0.3, 1e-3, 1e10, -1e300}) {
    combine_rule rule{.type = type, .op = reduction::premultiplied_sum, .scalar = scalar};
    rule.scale_left = random.one_in(2);
    rule.scale_right = !rule.scale_left || random.one_in(2);
    out.push_back(rule);
  }
  return out;
}

std::vector<loop_choice> all_choices() {
  std::vector<loop_choice> out;
  for (const instruction_set set : instruction_sets) {
    if (!has_instruction_set(set)) {
      BOOST_TEST_MESSAGE("not tested, this machine does not have it: " << to_string(set));
      continue;
    }
    for (const store_path path : {store_path::cached, store_path::streaming})
      out.push_back({path, set});
  }
  return out;
}

namespace {

std::uint64_t mask_of(data_type type) {
  return size_of(type) == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * size_of(type))) - 1;
}

/// Of both signs: the smallest and the largest code of each kind, by the bits of the exponent.
std::vector<std::uint64_t> special_floats(data_type type, int mantissa_bits) {
  const std::uint64_t sign = std::uint64_t{1} << (8 * size_of(type) - 1);
  const std::uint64_t least_normal = std::uint64_t{1} << mantissa_bits;
  const std::uint64_t infinity = (sign - 1) & ~(least_normal - 1);
  std::vector<std::uint64_t> out;
  for (const std::uint64_t magnitude :
       {std::uint64_t{0}, std::uint64_t{1}, least_normal / 2, least_normal - 1, least_normal,
        least_normal + 1, reference::encode(type, 1.0), infinity - 1, infinity, infinity + 1,
        infinity + least_normal / 2, infinity + least_normal / 2 + 1, sign - 2, sign - 1}) {
    out.push_back(magnitude & (sign - 1));
    out.push_back((magnitude & (sign - 1)) | sign);
  }
  return out;
}

}  // namespace

std::vector<std::uint64_t> special_codes(data_type type) {
  switch (type) {
    case data_type::float8_e4m3: return special_floats(type, 3);
    case data_type::float8_e5m2: return special_floats(type, 2);
    case data_type::float16: return special_floats(type, 10);
    case data_type::bfloat16: return special_floats(type, 7);
    case data_type::float32: return special_floats(type, 23);
    case data_type::float64: return special_floats(type, 52);
    default: break;
  }
  const std::uint64_t mask = mask_of(type);
  return {0, 1, 2, 3, mask >> 1, (mask >> 1) + 1, (mask >> 1) + 2, mask - 1, mask};
}

std::uint64_t draw_code(data_type type, random_stream& random) {
  const std::uint64_t bits = random.next();
  if (random.one_in(8)) {
    const auto specials = special_codes(type);
    return specials[random.below(specials.size())];
  }
  if (!reference::is_floating(type) || random.one_in(2)) return bits & mask_of(type);
  constexpr double inf = std::numeric_limits<double>::infinity();
  const double specials[] = {0.0, -0.0, 1.0, -1.0, inf, -inf, 448, 65504, 57344, 1e-7, 3e38, 0.1};
  if (random.one_in(3)) return reference::encode(type, specials[random.below(12)]);
  return reference::encode(type, static_cast<double>(random.between(0, 200)) / 8 - 12);
}

std::vector<std::byte> draw_buffer(data_type type, std::uint64_t count, random_stream& random) {
  std::vector<std::byte> out(count * size_of(type));
  for (std::uint64_t i = 0; i < count; ++i)
    reference::write_element(type, out.data(), i, draw_code(type, random));
  return out;
}

std::vector<std::byte> reference_combine(const combine_rule& rule,
                                         const std::vector<std::byte>& left,
                                         const std::vector<std::byte>& right) {
  std::vector<std::byte> out(left.size());
  for (std::uint64_t i = 0; i < left.size() / size_of(rule.type); ++i)
    reference::write_element(
        rule.type, out.data(), i,
        reference::combine_element(rule, reference::read_element(rule.type, left.data(), i),
                                   reference::read_element(rule.type, right.data(), i)));
  return out;
}

std::string describe(const combine_rule& rule) {
  return std::string(to_string(rule.type)) + " " + std::string(to_string(rule.op)) + " scalar " +
         std::to_string(rule.scalar) + " divisor " + std::to_string(rule.divisor);
}

std::string describe(const loop_choice& choice) {
  return std::string(to_string(choice.instructions)) +
         (choice.path == store_path::streaming ? " streaming" : " cached");
}

void check_equal(data_type type, const std::vector<std::byte>& expected, const std::byte* got,
                 const std::string& what) {
  if (expected.empty() || std::memcmp(expected.data(), got, expected.size()) == 0) return;
  for (std::uint64_t i = 0; i < expected.size() / size_of(type); ++i) {
    const std::uint64_t right = reference::read_element(type, expected.data(), i);
    const std::uint64_t here = reference::read_element(type, got, i);
    if (right == here) continue;
    std::ostringstream text;
    text << what << ": element " << i << " is " << std::hex << here << " instead of " << right;
    BOOST_ERROR(text.str());
    return;
  }
}

}  // namespace troupe::test
