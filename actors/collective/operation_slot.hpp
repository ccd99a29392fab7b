#pragma once

#include <cstdint>

namespace troupe::actors {

/// Names a running operation of the endpoint: index in the operation table and the generation of
/// that entry, so that a message for an operation that ended is recognised.
struct operation_slot {
  std::uint16_t index = 0;
  std::uint16_t generation = 0;

  friend constexpr bool operator==(const operation_slot&, const operation_slot&) = default;
};

}  // namespace troupe::actors
