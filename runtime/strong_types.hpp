#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace troupe {

/// Place of a member in a communicator, 0 to size - 1. Not an index into anything by itself:
/// use `to_index()` where the arithmetic is meant.
struct rank {
  std::uint32_t value = 0;

  friend constexpr auto operator<=>(const rank&, const rank&) = default;
};

/// No rank: the answer of "which peer?" when no peer is to blame.
inline constexpr rank no_rank{0xffff'ffffu};

constexpr std::uint32_t to_index(rank r) {
  return r.value;
}

/// One incarnation of a communicator's membership. Grows by one with every view change; anything
/// that carries an older epoch is dropped and counted.
struct epoch {
  std::uint32_t value = 0;

  friend constexpr auto operator<=>(const epoch&, const epoch&) = default;
};

/// Names a communicator in the whole job. Never reused while the job lives.
struct communicator_id {
  std::uint32_t value = 0;

  friend constexpr auto operator<=>(const communicator_id&, const communicator_id&) = default;
};

/// Position of an operation in its communicator: every member counts its calls from 1, in the
/// order in which it makes them.
struct operation_number {
  std::uint64_t value = 0;

  friend constexpr auto operator<=>(const operation_number&, const operation_number&) = default;
};

}  // namespace troupe

template <>
struct std::hash<troupe::rank> {
  std::size_t operator()(troupe::rank r) const noexcept { return r.value; }
};
