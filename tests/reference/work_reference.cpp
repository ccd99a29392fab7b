#include "tests/reference/work_reference.hpp"

#include <bit>

#include "runtime/data_type.hpp"

namespace troupe::reference {

namespace {

using collectives::plan;

struct amount {
  std::uint64_t bytes = 0;
  std::uint64_t chunks = 0;
};

amount amount_of(const plan& what, std::uint64_t bytes) {
  return {bytes, bytes / what.chunk_bytes + (bytes % what.chunk_bytes != 0 ? 1 : 0)};
}

amount buffer(const plan& what) {
  return amount_of(what, what.signature.count * size_of(what.signature.type));
}

bool scales(const plan& what) {
  return what.signature.op == reduction::premultiplied_sum;
}

amount block(const plan& what, std::uint32_t index) {
  const std::uint64_t count = what.signature.count;
  const std::uint64_t elements =
      count / what.size + (index % what.size < count % what.size ? 1 : 0);
  return amount_of(what, elements * size_of(what.signature.type));
}

/// All blocks but one.
amount all_but(const plan& what, std::uint32_t left_out) {
  amount out;
  for (std::uint32_t i = 0; i < what.size; ++i) {
    if (i == left_out % what.size) continue;
    out.bytes += block(what, i).bytes;
    out.chunks += block(what, i).chunks;
  }
  return out;
}

expected_work ring_all_reduce(const plan& what) {
  const std::uint32_t self = what.self.value;
  const amount first_half = all_but(what, self);
  const amount second_half = all_but(what, self + 1);
  expected_work out;
  out.puts = first_half.chunks + second_half.chunks;
  out.bytes_sent = first_half.bytes + second_half.bytes;
  out.combines = all_but(what, self + what.size - 1).chunks;
  out.accepts = out.combines + all_but(what, self).chunks;
  if (scales(what)) out.copies = block(what, self + what.size - 1).chunks;
  return out;
}

expected_work recursive_doubling(const plan& what) {
  const amount all = buffer(what);
  const std::uint32_t active = std::bit_floor(what.size);
  const auto rounds = static_cast<std::uint64_t>(std::countr_zero(active));
  const bool in_pair = what.self.value < 2 * (what.size - active);
  expected_work out;
  std::uint64_t puts_of_segment = rounds + (in_pair ? 1 : 0);
  std::uint64_t combines_of_segment = puts_of_segment;
  if (in_pair && what.self.value % 2 == 1) {
    puts_of_segment = 1;
    combines_of_segment = 0;
  }
  out.puts = out.accepts = puts_of_segment * all.chunks;
  out.bytes_sent = puts_of_segment * all.bytes;
  out.combines = combines_of_segment * all.chunks;
  if (scales(what)) out.copies = all.chunks;
  return out;
}

/// All kinds that move whole blocks between all ranks: reduce_scatter and all_gather.
expected_work block_exchange(const plan& what, placement where) {
  const amount one = buffer(what);
  const std::uint64_t others = what.size - 1;
  expected_work out;
  out.puts = out.accepts = others * one.chunks;
  out.bytes_sent = others * one.bytes;
  if (what.signature.kind == operation_kind::all_gather) {
    out.copies = where == placement::out_of_place ? 1 : 0;
    return out;
  }
  out.combines = others * one.chunks;
  if (scales(what))
    out.copies = what.path.algorithm == algorithm::ring ? one.chunks : others * one.chunks;
  return out;
}

std::uint64_t children_of(const plan& what) {
  const std::uint32_t number = (what.self.value + what.size - what.signature.root) % what.size;
  std::uint64_t children = 0;
  for (std::uint64_t bit = 1; bit < what.size && (number & bit) == 0; bit *= 2)
    children += number + bit < what.size ? 1 : 0;
  return children;
}

expected_work broadcast(const plan& what) {
  const amount all = buffer(what);
  expected_work out;
  out.puts = children_of(what) * all.chunks;
  out.bytes_sent = children_of(what) * all.bytes;
  out.accepts = what.self.value == what.signature.root ? 0 : all.chunks;
  return out;
}

}  // namespace

expected_work work_of(const plan& what, placement where) {
  switch (what.path.algorithm) {
    case algorithm::none: return {};
    case algorithm::local_copy: return {.copies = 1};
    case algorithm::ring:
      return what.signature.kind == operation_kind::all_reduce ? ring_all_reduce(what)
                                                               : block_exchange(what, where);
    case algorithm::recursive_doubling: return recursive_doubling(what);
    case algorithm::direct: return block_exchange(what, where);
    case algorithm::binomial_tree: return broadcast(what);
    case algorithm::dissemination: {
      const auto rounds = static_cast<std::uint64_t>(std::bit_width(what.size - 1));
      return {.puts = rounds, .accepts = rounds};
    }
    case algorithm::point_to_point:
      if (what.signature.kind == operation_kind::send)
        return {.puts = 1, .bytes_sent = buffer(what).bytes};
      return {.accepts = 1};
  }
  return {};
}

}  // namespace troupe::reference
