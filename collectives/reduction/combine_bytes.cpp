#include "collectives/reduction/combine_bytes.hpp"

#include <cstring>

#include "collectives/reduction/detail/element_loops.hpp"
#include "runtime/assert.hpp"

namespace troupe::collectives {

namespace {

const detail::element_loops& loops_for(data_type type) {
  switch (type) {
    case data_type::float16:
    case data_type::bfloat16:
    case data_type::float8_e4m3:
    case data_type::float8_e5m2: return detail::small_float_loops(type);
    case data_type::float32:
    case data_type::float64: return detail::float_loops(type);
    default: return detail::integer_loops(type);
  }
}

detail::element_loop loop_for(const combine_rule& rule) {
  const detail::element_loops& loops = loops_for(rule.type);
  switch (rule.op) {
    case reduction::sum: return loops.sum;
    case reduction::product: return loops.product;
    case reduction::minimum: return loops.minimum;
    case reduction::maximum: return loops.maximum;
    case reduction::average: return rule.divide ? loops.divided_sum : loops.sum;
    case reduction::premultiplied_sum:
      return rule.scale_left || rule.scale_right ? loops.scaled_sum : loops.sum;
  }
  TROUPE_ASSERT(!"a known reduction");
  return nullptr;
}

void check(const combine_rule& rule) {
  TROUPE_ASSERT(!rule.divide || rule.op == reduction::average);
  TROUPE_ASSERT(!rule.scale_left || rule.op == reduction::premultiplied_sum);
  TROUPE_ASSERT(!rule.scale_right || rule.op == reduction::premultiplied_sum);
  TROUPE_ASSERT(rule.divisor > 0);
}

}  // namespace

void combine_bytes(const combine_rule& rule, std::byte* target, const std::byte* left,
                   const std::byte* right, std::uint64_t count) {
  check(rule);
  loop_for(rule)({.target = target,
                  .left = left,
                  .right = right,
                  .count = count,
                  .left_factor = rule.scale_left ? rule.scalar : 1.0,
                  .right_factor = rule.scale_right ? rule.scalar : 1.0,
                  .divisor = rule.divisor});
}

void copy_bytes(const combine_rule& rule, std::byte* target, const std::byte* source,
                std::uint64_t count) {
  check(rule);
  const detail::loop_arguments arguments{.target = target,
                                         .left = source,
                                         .count = count,
                                         .left_factor = rule.scalar,
                                         .divisor = rule.divisor};
  if (rule.scale_left)
    loops_for(rule.type).scaled_copy(arguments);
  else if (rule.divide)
    loops_for(rule.type).divided_copy(arguments);
  else if (target != source && count != 0)
    std::memcpy(target, source, count * size_of(rule.type));
}

}  // namespace troupe::collectives
