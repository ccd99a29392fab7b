#include "tests/reference/collective_reference.hpp"

#include <algorithm>
#include <bit>

#include "tests/reference/element_reference.hpp"

namespace troupe::reference {

namespace {

using collectives::combine_rule;
using codes = std::vector<std::uint64_t>;

combine_rule rule_of(const collective_call& call) {
  return {.type = call.signature.type, .op = call.signature.op, .divisor = call.size()};
}

/// Element `index` of a rank's input as it enters the reduction: scaled where that is asked for.
std::uint64_t contribution(const collective_call& call, std::uint32_t member, std::uint64_t index) {
  const std::uint64_t code = read_element(call.signature.type, call.inputs[member].data(), index);
  if (call.signature.op != reduction::premultiplied_sum) return code;
  combine_rule rule = rule_of(call);
  rule.scalar = call.scalars[member];
  rule.scale_left = true;
  return copy_element(rule, code);
}

/// ((x[0] + x[1]) + x[2]) + ..., the last sum divided for an average.
std::uint64_t chain(const collective_call& call, const codes& values) {
  combine_rule rule = rule_of(call);
  std::uint64_t out = values[0];
  for (std::size_t i = 1; i < values.size(); ++i) {
    rule.divide = call.signature.op == reduction::average && i + 1 == values.size();
    out = combine_element(rule, out, values[i]);
  }
  return out;
}

/// Neighbours first, then pairs of pairs: values.size() is a power of two.
std::uint64_t tree(const collective_call& call, codes values) {
  combine_rule rule = rule_of(call);
  while (values.size() > 1) {
    rule.divide = call.signature.op == reduction::average && values.size() == 2;
    codes next;
    for (std::size_t i = 0; i < values.size(); i += 2)
      next.push_back(combine_element(rule, values[i], values[i + 1]));
    values = next;
  }
  return values[0];
}

/// The block of `owner` is reduced along the ring: the rank behind the owner begins, the owner is
/// the last.
std::uint64_t ring_order(const collective_call& call, std::uint32_t owner, std::uint64_t index) {
  codes values;
  for (std::uint32_t i = 1; i <= call.size(); ++i)
    values.push_back(contribution(call, (owner + i) % call.size(), index));
  return chain(call, values);
}

std::uint64_t doubling_order(const collective_call& call, std::uint64_t index) {
  const std::uint32_t pairs = call.size() - std::bit_floor(call.size());
  combine_rule rule = rule_of(call);
  codes active;
  for (std::uint32_t i = 0; i < pairs; ++i)
    active.push_back(combine_element(rule, contribution(call, 2 * i, index),
                                     contribution(call, 2 * i + 1, index)));
  for (std::uint32_t i = 2 * pairs; i < call.size(); ++i)
    active.push_back(contribution(call, i, index));
  return tree(call, active);
}

/// Blocks differ by one element at most, the larger ones first.
std::uint32_t block_of(const collective_call& call, std::uint64_t index) {
  std::uint64_t first = 0;
  for (std::uint32_t block = 0;; ++block) {
    const std::uint64_t larger = block < call.signature.count % call.size() ? 1 : 0;
    first += call.signature.count / call.size() + larger;
    if (index < first) return block;
  }
}

std::vector<std::byte> reduced(const collective_call& call, std::uint32_t self) {
  const operation_signature& signature = call.signature;
  std::vector<std::byte> out(signature.count * size_of(signature.type));
  for (std::uint64_t i = 0; i < signature.count; ++i) {
    std::uint64_t code = 0;
    if (call.size() == 1)
      code = contribution(call, 0, i);
    else if (signature.kind == operation_kind::reduce_scatter)
      code = ring_order(call, self, self * signature.count + i);
    else if (call.algorithm == algorithm::chain)
      code = ring_order(call, signature.root, i);
    else if (call.algorithm == algorithm::ring || call.algorithm == algorithm::ftar)
      code = ring_order(call, block_of(call, i), i);
    else
      code = doubling_order(call, i);
    write_element(signature.type, out.data(), i, code);
  }
  return out;
}

void append(std::vector<std::byte>& out, std::span<const std::byte> more) {
  out.insert(out.end(), more.begin(), more.end());
}

std::vector<std::byte> gathered(const collective_call& call) {
  std::vector<std::byte> out;
  for (const std::vector<std::byte>& input : call.inputs)
    append(out, input);
  return out;
}

/// Block `index` of the inputs that have a block for each rank.
std::span<const std::byte> block_of_input(const collective_call& call, std::uint32_t from,
                                          std::uint32_t index) {
  const std::uint64_t bytes = call.signature.count * size_of(call.signature.type);
  return std::span(call.inputs[from]).subspan(index * bytes, bytes);
}

}  // namespace

std::vector<std::byte> expected_output(const collective_call& call, std::uint32_t self) {
  switch (call.signature.kind) {
    case operation_kind::all_reduce:
    case operation_kind::reduce_scatter: return reduced(call, self);
    case operation_kind::reduce:
      return self == call.signature.root ? reduced(call, self) : std::vector<std::byte>{};
    case operation_kind::all_gather: return gathered(call);
    case operation_kind::gather:
      return self == call.signature.root ? gathered(call) : std::vector<std::byte>{};
    case operation_kind::scatter: {
      std::vector<std::byte> out;
      append(out, block_of_input(call, call.signature.root, self));
      return out;
    }
    case operation_kind::all_to_all: {
      std::vector<std::byte> out;
      for (std::uint32_t from = 0; from < call.size(); ++from)
        append(out, block_of_input(call, from, self));
      return out;
    }
    case operation_kind::broadcast:
    case operation_kind::receive: return call.inputs[call.signature.root];
    default: return {};
  }
}

void place_expected_output(const collective_call& call, std::uint32_t self,
                           std::span<std::byte> output) {
  if (call.signature.kind != operation_kind::all_to_all_v) {
    const std::vector<std::byte> all = expected_output(call, self);
    std::copy(all.begin(), all.end(), output.begin());
    return;
  }
  for (std::uint32_t from = 0; from < call.size(); ++from) {
    const collectives::peer_block& sent = call.blocks[from][self];
    const auto bytes = std::span(call.inputs[from]).subspan(sent.send_offset, sent.send_bytes);
    const std::uint64_t offset = call.blocks[self][from].receive_offset;
    std::copy(bytes.begin(), bytes.end(), output.begin() + static_cast<std::ptrdiff_t>(offset));
  }
}

}  // namespace troupe::reference
