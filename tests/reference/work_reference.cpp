#include "tests/reference/work_reference.hpp"

#include <algorithm>
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

std::uint64_t confirmation_rounds(const plan& what) {
  return static_cast<std::uint64_t>(std::bit_width(what.size - 1));
}

expected_work ftar(const plan& what, placement where) {
  expected_work out = ring_all_reduce(what);
  out.puts += confirmation_rounds(what);
  out.accepts += confirmation_rounds(what);
  if (where == placement::in_place) ++out.copies;
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

/// Halves of a segment that a rank sends and gets, from the definition: round j splits what the
/// rank works on, the larger part being the lower one, and number ^ 2^j has the other part.
struct halving_walk {
  std::uint64_t sent_elements = 0;
  std::uint64_t puts = 0;
  std::uint64_t accepts = 0;
  std::uint64_t combines = 0;
};

halving_walk walk_halves(std::uint64_t elements, std::uint32_t number, std::uint32_t rounds) {
  halving_walk out;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const std::uint64_t upper = elements / 2;
    const bool keeps_lower = (number >> round & 1u) == 0;
    const std::uint64_t kept = keeps_lower ? elements - upper : upper;
    const std::uint64_t other = elements - kept;
    // What is sent on the way down comes back on the way up, and the reverse.
    out.puts += (other != 0 ? 1 : 0) + (kept != 0 ? 1 : 0);
    out.accepts += (other != 0 ? 1 : 0) + (kept != 0 ? 1 : 0);
    out.combines += kept != 0 ? 1 : 0;
    out.sent_elements += other + kept;
    elements = kept;
  }
  return out;
}

expected_work recursive_halving(const plan& what) {
  const amount all = buffer(what);
  const std::uint32_t active = std::bit_floor(what.size);
  const std::uint32_t pairs = what.size - active;
  const std::uint32_t self = what.self.value;
  const bool in_pair = self < 2 * pairs;
  expected_work out;
  if (scales(what)) out.copies = all.chunks;
  if (in_pair && self % 2 == 1) {
    out.puts = out.accepts = all.chunks;
    out.bytes_sent = all.bytes;
    return out;
  }
  const std::uint64_t element = size_of(what.signature.type);
  for (std::uint64_t offset = 0; offset < all.bytes; offset += what.chunk_bytes) {
    const std::uint64_t bytes = std::min(what.chunk_bytes, all.bytes - offset);
    const halving_walk walk = walk_halves(bytes / element, in_pair ? self / 2 : self - pairs,
                                          static_cast<std::uint32_t>(std::countr_zero(active)));
    out.puts += walk.puts;
    out.accepts += walk.accepts;
    out.combines += walk.combines;
    out.bytes_sent += walk.sent_elements * element;
  }
  if (!in_pair) return out;
  out.puts += all.chunks;
  out.accepts += all.chunks;
  out.combines += all.chunks;
  out.bytes_sent += all.bytes;
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

/// In round j the blocks of `first` and the 2^j - 1 behind it, fewer in the last one; two runs
/// where they wrap around the end.
std::uint64_t bruck_pieces(const plan& what, std::uint32_t first, std::uint32_t distance) {
  const std::uint64_t one = what.signature.count * size_of(what.signature.type);
  const std::uint32_t blocks = std::min(distance, what.size - distance);
  const std::uint32_t before_end = std::min(blocks, what.size - first);
  return amount_of(what, before_end * one).chunks +
         amount_of(what, (blocks - before_end) * one).chunks;
}

expected_work bruck(const plan& what, placement where) {
  expected_work out;
  out.bytes_sent = (what.size - 1) * buffer(what).bytes;
  out.copies = where == placement::out_of_place ? 1 : 0;
  for (std::uint32_t distance = 1; distance < what.size; distance *= 2) {
    out.puts += bruck_pieces(what, what.self.value, distance);
    out.accepts += bruck_pieces(what, (what.self.value + distance) % what.size, distance);
  }
  return out;
}

/// Ranks `first` to `first + count - 1` hang below `first`, whose children head the halves of the
/// rest. Counts what `who` moves in that subtree, as one of it or as the parent of its head.
void binary_subtree(const plan& what, std::uint32_t first, std::uint32_t count,
                    expected_work& out) {
  const std::uint64_t one = what.signature.count * size_of(what.signature.type);
  const std::uint64_t all = amount_of(what, what.size * one).chunks;
  const std::uint32_t who = what.self.value;
  const std::uint32_t left = count / 2, right = count - 1 - left;
  for (const auto& [head, size] :
       {std::pair{first + 1, left}, std::pair{first + 1 + left, right}}) {
    if (size == 0) continue;
    const std::uint64_t up = amount_of(what, size * one).chunks;
    if (who == head) {
      out.puts += up;
      out.accepts += all;
      out.bytes_sent += size * one;
    }
    if (who == first) {
      out.puts += all;
      out.accepts += up;
      out.bytes_sent += what.size * one;
    }
    binary_subtree(what, head, size, out);
  }
}

expected_work binary_tree(const plan& what, placement where) {
  expected_work out;
  out.copies = where == placement::out_of_place ? 1 : 0;
  binary_subtree(what, 0, what.size, out);
  return out;
}

/// gather and scatter.
expected_work rooted(const plan& what, placement where) {
  const amount one = buffer(what);
  const bool at_root = what.self.value == what.signature.root;
  const std::uint64_t blocks = at_root ? what.size - 1 : 1;
  expected_work out;
  if ((what.signature.kind == operation_kind::scatter) == at_root) {
    out.puts = blocks * one.chunks;
    out.bytes_sent = blocks * one.bytes;
  } else {
    out.accepts = blocks * one.chunks;
  }
  out.copies = at_root && where == placement::out_of_place ? 1 : 0;
  return out;
}

expected_work all_to_all(const plan& what) {
  const amount one = buffer(what);
  const std::uint64_t others = what.size - 1;
  return {.puts = others * one.chunks,
          .accepts = others * one.chunks,
          .bytes_sent = others * one.bytes,
          .copies = 1};
}

expected_work all_to_all_v(const plan& what, std::span<const collectives::peer_block> blocks) {
  expected_work out;
  for (std::uint32_t peer = 0; peer < what.size; ++peer) {
    if (peer == what.self.value) {
      out.copies = blocks[peer].send_bytes != 0 ? 1 : 0;
      continue;
    }
    // A pair without elements still says so.
    out.puts += std::max<std::uint64_t>(1, amount_of(what, blocks[peer].send_bytes).chunks);
    out.accepts += std::max<std::uint64_t>(1, amount_of(what, blocks[peer].receive_bytes).chunks);
    out.bytes_sent += blocks[peer].send_bytes;
  }
  return out;
}

expected_work direct(const plan& what, placement where,
                     std::span<const collectives::peer_block> blocks) {
  switch (what.signature.kind) {
    case operation_kind::gather:
    case operation_kind::scatter: return rooted(what, where);
    case operation_kind::all_to_all: return all_to_all(what);
    case operation_kind::all_to_all_v: return all_to_all_v(what, blocks);
    default: return block_exchange(what, where);
  }
}

/// Children of a rank when the ranks of a binomial reduce are folded into a power of two and then
/// numbered from the root by exclusive or; a folded rank has none.
std::uint64_t children_of_reduce(const plan& what) {
  const std::uint32_t active = std::bit_floor(what.size);
  const std::uint32_t pairs = what.size - active;
  const auto number = [&](std::uint32_t who) { return who < 2 * pairs ? who / 2 : who - pairs; };
  const std::uint32_t self = what.self.value;
  const std::uint32_t root = what.signature.root;
  const bool in_pair = self < 2 * pairs;
  const bool root_in_pair = in_pair && root / 2 == self / 2;
  if (in_pair && (root_in_pair ? self != root : self % 2 == 1)) return 0;
  const std::uint32_t seen = number(self) ^ number(root);
  std::uint64_t children = in_pair ? 1 : 0;
  for (std::uint32_t bit = 1; bit < active && (seen & bit) == 0; bit *= 2)
    ++children;
  return children;
}

expected_work reduce(const plan& what) {
  const amount all = buffer(what);
  const bool at_root = what.self.value == what.signature.root;
  const bool is_chain = what.path.algorithm == algorithm::chain;
  const bool begins = what.self.value == (what.signature.root + 1) % what.size;
  const std::uint64_t children = is_chain ? (begins ? 0 : 1) : children_of_reduce(what);
  expected_work out;
  out.accepts = out.combines = children * all.chunks;
  if (!at_root) {
    out.puts = all.chunks;
    out.bytes_sent = all.bytes;
  }
  if (children == 0 && scales(what)) out.copies = all.chunks;
  return out;
}

expected_work sum(expected_work one, const expected_work& other) {
  one.puts += other.puts;
  one.accepts += other.accepts;
  one.bytes_sent += other.bytes_sent;
  one.combines += other.combines;
  one.copies += other.copies;
  return one;
}

std::uint64_t children_of(const plan& what) {
  const std::uint32_t number = (what.self.value + what.size - what.signature.root) % what.size;
  if (what.path.algorithm == algorithm::chain) return number + 1 < what.size ? 1 : 0;
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

expected_work work_of(const plan& what, placement where,
                      std::span<const collectives::peer_block> blocks) {
  switch (what.path.algorithm) {
    case algorithm::none: return {};
    case algorithm::local_copy:
      if (what.signature.kind == operation_kind::all_to_all_v) return all_to_all_v(what, blocks);
      return {.copies = 1};
    case algorithm::ring:
      return what.signature.kind == operation_kind::all_reduce ? ring_all_reduce(what)
                                                               : block_exchange(what, where);
    case algorithm::recursive_doubling: return recursive_doubling(what);
    case algorithm::direct: return direct(what, where, blocks);
    case algorithm::recursive_halving: return recursive_halving(what);
    case algorithm::bruck: return bruck(what, where);
    case algorithm::binary_tree: return binary_tree(what, where);
    case algorithm::chain:
    case algorithm::binomial_tree:
      if (what.signature.kind == operation_kind::all_reduce)
        return sum(reduce(what), broadcast(what));
      return what.signature.kind == operation_kind::reduce ? reduce(what) : broadcast(what);
    case algorithm::dissemination:
      return {.puts = confirmation_rounds(what), .accepts = confirmation_rounds(what)};
    case algorithm::ftar: return ftar(what, where);
    case algorithm::point_to_point:
      if (what.signature.kind == operation_kind::send)
        return {.puts = 1, .bytes_sent = buffer(what).bytes};
      return {.accepts = 1};
  }
  return {};
}

}  // namespace troupe::reference
