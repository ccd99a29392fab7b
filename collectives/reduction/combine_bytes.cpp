#include "collectives/reduction/combine_bytes.hpp"

#include "collectives/reduction/detail/element_loops.hpp"
#include "runtime/assert.hpp"

namespace troupe::collectives {

namespace {

/// What a streamed loop computes before it writes past the caches. Measured: 4 KiB stay in the
/// first-level cache beside what is read, and are many lines for one call.
constexpr std::size_t piece_bytes = 4096;
constexpr std::size_t line_bytes = 64;

/// The loops of a type among those of one instruction set.
template <class Integers, class Floats, class SmallFloats>
const detail::element_loops& pick(data_type type, Integers integers, Floats floats,
                                  SmallFloats small_floats) {
  const detail::element_loops* loops = integers(type);
  if (loops == nullptr) loops = floats(type);
  if (loops == nullptr) loops = small_floats(type);
  TROUPE_ASSERT(loops != nullptr);
  return *loops;
}

const detail::element_loops& loops_for(data_type type,
                                       [[maybe_unused]] instruction_set instructions) {
#ifdef TROUPE_X86_VARIANTS
  namespace avx2 = detail::avx2;
  namespace avx512 = detail::avx512;
  if (instructions == instruction_set::avx512)
    return pick(type, avx512::integer_loops, avx512::float_loops, avx512::small_float_loops);
  if (instructions == instruction_set::avx2)
    return pick(type, avx2::integer_loops, avx2::float_loops, avx2::small_float_loops);
#endif
  namespace baseline = detail::baseline;
  return pick(type, baseline::integer_loops, baseline::float_loops, baseline::small_float_loops);
}

detail::element_loop loop_for(const combine_rule& rule, instruction_set instructions) {
  const detail::element_loops& loops = loops_for(rule.type, instructions);
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

/// Elements of the first piece, so that the pieces behind it begin with a line of the target.
std::uint64_t first_piece(const std::byte* target, std::size_t element_bytes) {
  const std::size_t past = reinterpret_cast<std::uintptr_t>(target) % line_bytes;
  return (piece_bytes - past) / element_bytes;
}

/// Piece after piece is computed where it stays in the cache, and written past it from there.
void stream(detail::element_loop loop, detail::loop_arguments in, std::size_t element_bytes,
            instruction_set instructions) {
  alignas(line_bytes) std::byte piece[piece_bytes];
  std::byte* target = in.target;
  std::uint64_t rest = in.count;
  std::uint64_t count = first_piece(target, element_bytes);
  in.target = piece;
  while (rest > 0) {
    in.count = count < rest ? count : rest;
    const std::uint64_t bytes = in.count * element_bytes;
    TROUPE_ASSERT(bytes <= piece_bytes);
    loop(in);
    stream_piece(target, piece, bytes, instructions);
    target += bytes;
    in.left += bytes;
    if (in.right != nullptr) in.right += bytes;
    rest -= in.count;
    count = piece_bytes / element_bytes;
  }
  finish_streaming();
}

void run(detail::element_loop loop, const detail::loop_arguments& in, data_type type,
         const loop_choice& choice) {
  const std::size_t element_bytes = size_of(type);
  const bool in_place = in.target == in.left || in.target == in.right;
  if (!in_place && store_path_for(choice.path, in.count * element_bytes) == store_path::streaming)
    stream(loop, in, element_bytes, choice.instructions);
  else
    loop(in);
}

}  // namespace

void combine_bytes(const combine_rule& rule, std::byte* target, const std::byte* left,
                   const std::byte* right, std::uint64_t count, const loop_choice& choice) {
  check(rule);
  const detail::loop_arguments arguments{.target = target,
                                         .left = left,
                                         .right = right,
                                         .count = count,
                                         .left_factor = rule.scale_left ? rule.scalar : 1.0,
                                         .right_factor = rule.scale_right ? rule.scalar : 1.0,
                                         .divisor = rule.divisor};
  run(loop_for(rule, choice.instructions), arguments, rule.type, choice);
}

void copy_bytes(const combine_rule& rule, std::byte* target, const std::byte* source,
                std::uint64_t count, const loop_choice& choice) {
  check(rule);
  const detail::loop_arguments arguments{.target = target,
                                         .left = source,
                                         .count = count,
                                         .left_factor = rule.scalar,
                                         .divisor = rule.divisor};
  if (rule.scale_left)
    run(loops_for(rule.type, choice.instructions).scaled_copy, arguments, rule.type, choice);
  else if (rule.divide)
    run(loops_for(rule.type, choice.instructions).divided_copy, arguments, rule.type, choice);
  else
    copy_memory(target, source, count * size_of(rule.type), choice);
}

}  // namespace troupe::collectives
