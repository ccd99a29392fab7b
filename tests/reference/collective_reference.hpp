#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collectives/peer_block.hpp"
#include "runtime/operation.hpp"

/// The specification of what operations compute, in the order of docs/algorithms.md.
namespace troupe::reference {

/// One operation as seen from above: every rank's input.
struct collective_call {
  operation_signature signature;
  troupe::algorithm algorithm = troupe::algorithm::none;
  std::vector<std::vector<std::byte>> inputs;  ///< by rank; broadcast, send: the root's alone
  std::vector<double> scalars;                 ///< by rank
  /// all_to_all_v: by rank, then peer.
  std::vector<std::vector<collectives::peer_block>> blocks{};

  std::uint32_t size() const { return static_cast<std::uint32_t>(inputs.size()); }
};

/// What rank `self` has in its output afterwards; empty if the kind has no output there.
std::vector<std::byte> expected_output(const collective_call& call, std::uint32_t self);

/// Writes what rank `self` has in its output afterwards, and nothing else, into `output`, which is
/// as it was before. The only way to ask for an all_to_all_v, whose blocks may lie apart.
void place_expected_output(const collective_call& call, std::uint32_t self,
                           std::span<std::byte> output);

}  // namespace troupe::reference
