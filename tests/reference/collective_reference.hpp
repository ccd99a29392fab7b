#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/operation.hpp"

/// The specification of what operations compute, in the order of docs/algorithms.md.
namespace troupe::reference {

/// One operation as seen from above: every rank's input.
struct collective_call {
  operation_signature signature;
  troupe::algorithm algorithm = troupe::algorithm::none;
  std::vector<std::vector<std::byte>> inputs;  ///< by rank; broadcast, send: the root's alone
  std::vector<double> scalars;                 ///< by rank

  std::uint32_t size() const { return static_cast<std::uint32_t>(inputs.size()); }
};

/// What rank `self` has in its output afterwards; empty if the kind has no output there.
std::vector<std::byte> expected_output(const collective_call& call, std::uint32_t self);

}  // namespace troupe::reference
