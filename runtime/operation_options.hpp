#pragma once

#include <optional>

#include "runtime/instant.hpp"
#include "runtime/operation.hpp"

namespace troupe {

class group;

/// What every operation can be given beside its own arguments.
struct operation_options {
  /// Ends the operation with timed_out after this long; unset: `collective.timeout`.
  std::optional<duration> timeout = std::nullopt;
  /// Takes this algorithm instead of the table's choice. Must be equal on all ranks. An algorithm
  /// that the operation does not have is bad_argument.
  std::optional<troupe::algorithm> algorithm = std::nullopt;
  /// Makes the call part of this group if it is open (runtime/group.hpp): it is launched when the
  /// group ends. Null, or a group that is not open: launched at once.
  troupe::group* group = nullptr;
};

}  // namespace troupe
