#pragma once

#include <cstdint>

#include "collectives/plan.hpp"
#include "runtime/operation.hpp"

namespace troupe::collectives {

/// Whether operations of this kind can be run by this algorithm.
bool has_algorithm(operation_kind kind, algorithm which);

/// The chunk that a chain cuts `bytes` into: a sixteenth, so that the chain fills fast, but neither
/// below the smallest chunk that pays nor above the largest allowed.
std::uint64_t chain_chunk_bytes(std::uint64_t bytes, const tuning& limits);

/// The choice table of docs/algorithms.md, tried from the top. `bytes` is the size of the larger
/// buffer. The same request gives the same path on every rank.
operation_path choose_path(const plan_request& request, const tuning& limits, std::uint64_t bytes);

}  // namespace troupe::collectives
