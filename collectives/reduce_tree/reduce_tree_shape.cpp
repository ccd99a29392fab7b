#include "collectives/reduce_tree/reduce_tree_shape.hpp"

#include <bit>

namespace troupe::collectives {

namespace {

bool is_in_pair(const reduce_tree_shape& shape, rank who) {
  return who.value < 2 * shape.folded_pair_count;
}

std::uint32_t number_of(const reduce_tree_shape& shape, rank who) {
  return is_in_pair(shape, who) ? who.value / 2 : who.value - shape.folded_pair_count;
}

/// The member of pair `pair` that stays: the root, or else the even one.
rank active_of_pair(const reduce_tree_shape& shape, std::uint32_t pair) {
  const bool root_is_odd = shape.root.value == 2 * pair + 1;
  return rank{2 * pair + (root_is_odd ? 1 : 0)};
}

rank rank_of(const reduce_tree_shape& shape, std::uint32_t number) {
  if (number < shape.folded_pair_count) return active_of_pair(shape, number);
  return rank{number + shape.folded_pair_count};
}

void shape_binomial(reduce_tree_shape& shape) {
  const std::uint32_t active = std::bit_floor(shape.size);
  shape.folded_pair_count = shape.size - active;
  shape.number = number_of(shape, shape.self);
  shape.root_number = number_of(shape, shape.root);
  if (is_in_pair(shape, shape.self)) {
    const rank stays = active_of_pair(shape, shape.number);
    if (stays != shape.self) {
      shape.parent = stays;
      return;
    }
    shape.has_folded_child = true;
  }
  // Numbers as seen from the root: the parent lacks the lowest bit.
  const std::uint32_t seen = shape.number ^ shape.root_number;
  const auto rounds =
      static_cast<std::uint32_t>(seen == 0 ? std::countr_zero(active) : std::countr_zero(seen));
  shape.child_count = rounds + (shape.has_folded_child ? 1 : 0);
  if (seen != 0) shape.parent = rank_of(shape, shape.number ^ (1u << rounds));
}

void shape_chain(reduce_tree_shape& shape) {
  const std::uint32_t behind = (shape.self.value + shape.size - shape.root.value) % shape.size;
  shape.child_count = behind == 1 ? 0 : 1;
  if (behind != 0) shape.parent = rank{(shape.self.value + 1) % shape.size};
}

}  // namespace

rank reduce_tree_shape::child(std::uint32_t index) const {
  if (which == algorithm::chain) return rank{(self.value + size - 1) % size};
  if (has_folded_child && index == 0) return rank{self.value ^ 1u};
  const std::uint32_t round = index - (has_folded_child ? 1 : 0);
  return rank_of(*this, number ^ (1u << round));
}

bool reduce_tree_shape::is_left(std::uint32_t index) const {
  return which == algorithm::chain || child(index) < self;
}

reduce_tree_shape reduce_tree_shape_of(const plan& what) {
  reduce_tree_shape shape;
  shape.which = what.path.algorithm;
  shape.self = what.self;
  shape.root = rank{what.signature.root};
  shape.size = what.size;
  if (shape.which == algorithm::chain)
    shape_chain(shape);
  else
    shape_binomial(shape);
  return shape;
}

}  // namespace troupe::collectives
