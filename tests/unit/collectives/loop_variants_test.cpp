#define BOOST_TEST_MODULE loop_variants
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "collectives/reduction/combine_bytes.hpp"
#include "tests/reference/element_reference.hpp"
#include "tests/unit/collectives/reduction_cases.hpp"

using namespace troupe;
using namespace troupe::test;
using collectives::combine_bytes;
using collectives::combine_rule;
using collectives::copy_bytes;

namespace {

constexpr std::byte untouched{0xa5};

/// Memory with a margin on both sides, at any distance from a line of the cache.
class shifted_buffer {
 public:
  shifted_buffer(std::size_t bytes, std::size_t shift) : bytes_(bytes), memory_(bytes + 256) {
    void* place = memory_.data();
    std::size_t space = memory_.size();
    std::align(64, bytes + 128, place, space);
    start_ = static_cast<std::byte*>(place) + 64 + shift % 64;
    std::fill(memory_.begin(), memory_.end(), untouched);
  }

  std::byte* data() { return start_; }
  void assign(const std::vector<std::byte>& from) {
    if (!from.empty()) std::memcpy(start_, from.data(), from.size());
  }
  bool margins_untouched() const {
    const std::byte* const first = memory_.data();
    const std::byte* const last = first + memory_.size();
    const std::byte* const start = start_;
    const auto same = [](std::byte b) { return b == untouched; };
    return std::all_of(first, start, same) && std::all_of(start + bytes_, last, same);
  }

 private:
  std::size_t bytes_ = 0;
  std::vector<std::byte> memory_;
  std::byte* start_ = nullptr;
};

/// Counts around the lengths of vectors, of rounds and of streamed pieces, odd ones among them.
std::vector<std::uint64_t> counts_of(data_type type, random_stream& random) {
  const std::uint64_t piece = 4096 / size_of(type);
  return {0,
          1,
          2,
          5,
          15,
          16,
          17,
          31,
          33,
          64,
          65,
          127,
          255,
          256,
          257,
          300 + random.below(200),
          511,
          513,
          piece - 1,
          piece + 1,
          2 * piece + 1 + random.below(63)};
}

void check_combine(const combine_rule& rule, std::uint64_t count, random_stream& random,
                   const std::vector<loop_choice>& choices) {
  const auto left = draw_buffer(rule.type, count, random);
  const auto right = draw_buffer(rule.type, count, random);
  const auto expected = reference_combine(rule, left, right);
  shifted_buffer l(left.size(), random.below(64)), r(right.size(), random.below(64));
  l.assign(left);
  r.assign(right);
  for (const loop_choice& choice : choices) {
    shifted_buffer target(left.size(), random.below(64));
    combine_bytes(rule, target.data(), l.data(), r.data(), count, choice);
    check_equal(rule.type, expected, target.data(), describe(rule) + ", " + describe(choice));
    BOOST_REQUIRE(target.margins_untouched());
  }
}

void check_in_place(const combine_rule& rule, std::uint64_t count, random_stream& random,
                    const std::vector<loop_choice>& choices) {
  const auto left = draw_buffer(rule.type, count, random);
  const auto right = draw_buffer(rule.type, count, random);
  const auto expected = reference_combine(rule, left, right);
  for (const loop_choice& choice : choices) {
    shifted_buffer l(left.size(), random.below(64)), r(right.size(), random.below(64));
    l.assign(left);
    r.assign(right);
    combine_bytes(rule, l.data(), l.data(), r.data(), count, choice);
    check_equal(rule.type, expected, l.data(), describe(rule) + " left, " + describe(choice));
    l.assign(left);
    combine_bytes(rule, r.data(), l.data(), r.data(), count, choice);
    check_equal(rule.type, expected, r.data(), describe(rule) + " right, " + describe(choice));
    BOOST_REQUIRE(l.margins_untouched() && r.margins_untouched());
  }
}

void check_copy(combine_rule rule, std::uint64_t count, random_stream& random,
                const std::vector<loop_choice>& choices) {
  rule.scale_left = rule.op == reduction::premultiplied_sum;
  rule.scale_right = false;
  const auto source = draw_buffer(rule.type, count, random);
  std::vector<std::byte> expected(source.size());
  for (std::uint64_t i = 0; i < count; ++i)
    reference::write_element(
        rule.type, expected.data(), i,
        reference::copy_element(rule, reference::read_element(rule.type, source.data(), i)));
  shifted_buffer from(source.size(), random.below(64));
  from.assign(source);
  for (const loop_choice& choice : choices) {
    shifted_buffer target(source.size(), random.below(64));
    copy_bytes(rule, target.data(), from.data(), count, choice);
    check_equal(rule.type, expected, target.data(), describe(rule) + ", " + describe(choice));
    BOOST_REQUIRE(target.margins_untouched());
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_variant_agrees_with_the_reference_at_any_alignment_and_count) {
  random_stream random(11);
  const auto choices = all_choices();
  for (const data_type type : all_types())
    for (const combine_rule& rule : all_rules(type, random))
      for (const std::uint64_t count : counts_of(type, random))
        check_combine(rule, count, random, choices);
}

BOOST_AUTO_TEST_CASE(every_variant_may_write_over_an_operand) {
  random_stream random(12);
  const auto choices = all_choices();
  for (const data_type type : all_types())
    for (const combine_rule& rule : all_rules(type, random))
      for (const std::uint64_t count : {1, 17, 257, 1025})
        check_in_place(rule, count, random, choices);
}

BOOST_AUTO_TEST_CASE(every_variant_copies_scales_and_divides) {
  random_stream random(13);
  const auto choices = all_choices();
  for (const data_type type : all_types())
    for (const combine_rule& rule : all_rules(type, random))
      for (const std::uint64_t count : {0, 1, 15, 33, 257, 999, 5000})
        check_copy(rule, count, random, choices);
}

BOOST_AUTO_TEST_CASE(special_values_meet_each_other_in_every_variant) {
  random_stream random(14);
  const auto choices = all_choices();
  for (const data_type type : all_types()) {
    const auto codes = special_codes(type);
    const std::uint64_t count = codes.size() * codes.size();
    std::vector<std::byte> left(count * size_of(type)), right(left.size()), target(left.size());
    for (std::uint64_t i = 0; i < count; ++i) {
      reference::write_element(type, left.data(), i, codes[i / codes.size()]);
      reference::write_element(type, right.data(), i, codes[i % codes.size()]);
    }
    for (const combine_rule& rule : all_rules(type, random)) {
      const auto expected = reference_combine(rule, left, right);
      for (const loop_choice& choice : choices) {
        combine_bytes(rule, target.data(), left.data(), right.data(), count, choice);
        check_equal(type, expected, target.data(), describe(rule) + ", " + describe(choice));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(all_pairs_of_eight_bit_values_agree_in_every_variant) {
  random_stream random(15);
  const auto choices = all_choices();
  std::vector<std::byte> left(65'536), right(65'536), target(65'536);
  for (std::size_t i = 0; i < 65'536; ++i) {
    left[i] = static_cast<std::byte>(i);
    right[i] = static_cast<std::byte>(i >> 8);
  }
  for (const data_type type :
       {data_type::int8, data_type::uint8, data_type::float8_e4m3, data_type::float8_e5m2})
    for (const combine_rule& rule : all_rules(type, random)) {
      const auto expected = reference_combine(rule, left, right);
      for (const loop_choice& choice : choices) {
        combine_bytes(rule, target.data(), left.data(), right.data(), left.size(), choice);
        check_equal(type, expected, target.data(), describe(rule) + ", " + describe(choice));
      }
    }
}

BOOST_AUTO_TEST_CASE(all_sixteen_bit_values_agree_in_every_variant) {
  random_stream random(16);
  const auto choices = all_choices();
  std::vector<std::byte> left(65'536 * 2), right(65'536 * 2), target(65'536 * 2);
  for (const data_type type :
       {data_type::float16, data_type::bfloat16, data_type::int16, data_type::uint16}) {
    for (std::uint64_t i = 0; i < 65'536; ++i) {
      reference::write_element(type, left.data(), i, i);
      reference::write_element(type, right.data(), i, draw_code(type, random));
    }
    for (const combine_rule& rule : all_rules(type, random)) {
      const auto expected = reference_combine(rule, left, right);
      for (const loop_choice& choice : choices) {
        combine_bytes(rule, target.data(), left.data(), right.data(), 65'536, choice);
        check_equal(type, expected, target.data(), describe(rule) + ", " + describe(choice));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(integer_averages_are_exact_next_to_multiples_of_the_divisor) {
  random_stream random(17);
  const auto choices = all_choices();
  constexpr std::uint64_t count = 512;
  for (const data_type type : {data_type::int8, data_type::uint8, data_type::int16,
                               data_type::uint16, data_type::int32, data_type::uint32}) {
    const std::uint64_t codes = std::uint64_t{1} << (8 * size_of(type));
    for (int round = 0; round < 60; ++round) {
      combine_rule rule{.type = type, .op = reduction::average, .divide = true};
      rule.divisor = static_cast<std::uint32_t>(random.between(1, codes - 1) >>
                                                random.below(8 * size_of(type))) |
                     1u;
      std::vector<std::byte> left(count * size_of(type)), right(left.size()), target(left.size());
      for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t quotient = random.below(codes / rule.divisor + 1);
        reference::write_element(type, left.data(), i,
                                 quotient * rule.divisor + random.below(3) - 1);
      }
      const auto expected = reference_combine(rule, left, right);
      for (const loop_choice& choice : choices) {
        combine_bytes(rule, target.data(), left.data(), right.data(), count, choice);
        check_equal(type, expected, target.data(), describe(rule) + ", " + describe(choice));
      }
    }
  }
}
