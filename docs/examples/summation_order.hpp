#pragma once

#include <cstddef>
#include <span>

namespace examples {

// A float32 sum depends on its order. Troupe's collectives add in orders that their algorithms fix
// (docs/algorithms.md); these functions add in the same ones, so that one process gets the bits of
// a whole job.

/// One block as reduce_scatter leaves it with member `owner`, from the same block of all members:
/// once around the ring, from the member behind the owner to the owner itself.
void add_like_reduce_scatter(std::span<const float* const> members, std::size_t owner,
                             std::span<float> sum);

/// What all_reduce by recursive doubling leaves with everybody: neighbours in pairs, pairs of
/// pairs, and so on, after the members in excess of a power of two were added to their neighbours.
void add_like_recursive_doubling(std::span<const float* const> members, std::span<float> sum);

}  // namespace examples
