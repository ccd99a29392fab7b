#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/data_type.hpp"
#include "runtime/instant.hpp"
#include "runtime/lane.hpp"
#include "runtime/strong_types.hpp"

namespace troupe {

/// What a communicator can be asked to do. Numbers are wire values: stable.
enum class operation_kind : std::uint8_t {
  all_reduce = 1,
  all_gather = 2,
  reduce_scatter = 3,
  broadcast = 4,
  send = 5,
  receive = 6,
  barrier = 7,
  split = 8,
  reduce = 9,
  gather = 10,
  scatter = 11,
  all_to_all = 12,
  all_to_all_v = 13,
  put = 14,                 ///< bytes into a peer's window
  get = 15,                 ///< bytes out of a peer's window
  wait_notifications = 16,  ///< of a peer's puts into the own window
};

std::string_view to_string(operation_kind kind);

/// On a window of a peer, or of one's own: no call of the peer matches it.
constexpr bool is_one_sided(operation_kind kind) {
  return kind == operation_kind::put || kind == operation_kind::get ||
         kind == operation_kind::wait_notifications;
}

/// What must be equal on all ranks of one operation. Travels with the operation's first bytes to
/// every peer, so that a mismatch is an error with both signatures instead of a hang.
struct operation_signature {
  operation_kind kind = operation_kind::barrier;
  data_type type = data_type::uint8;
  reduction op = reduction::sum;
  std::uint32_t root = 0;   ///< rank; 0 where the kind has no root
  std::uint64_t count = 0;  ///< in elements, per the kind's documentation

  friend constexpr bool operator==(const operation_signature&,
                                   const operation_signature&) = default;
};

/// "all_reduce(count 1024, float32, sum)".
std::string to_string(const operation_signature& signature);

/// The algorithms there are. Numbers appear in traces and metrics: stable.
enum class algorithm : std::uint8_t {
  none = 0,  ///< nothing to move: one rank, or no elements
  local_copy = 1,
  ring = 2,
  recursive_doubling = 3,
  direct = 4,
  binomial_tree = 5,
  dissemination = 6,
  point_to_point = 7,
  chain = 8,
  recursive_halving = 9,
  bruck = 10,
  binary_tree = 11,
  ftar = 12,  ///< fault-tolerant all_reduce: a ring and one round of confirmation
};

inline constexpr std::size_t algorithm_count = 13;

std::string_view to_string(algorithm a);

/// Why an operation took the path it took: one value per row of the choice table in
/// `docs/algorithms.md`.
enum class choice_reason : std::uint8_t {
  single_rank = 0,        ///< the communicator has one member
  nothing_to_move = 1,    ///< zero elements
  requested_by_call = 2,  ///< `operation_options::algorithm` named it
  below_threshold = 3,    ///< bytes <= the threshold of the kind
  above_threshold = 4,    ///< bytes > the threshold of the kind
  few_elements = 5,       ///< fewer elements than ranks: a ring would have empty blocks
  only_algorithm = 6,     ///< the kind has just this one
  many_ranks = 7,         ///< so many ranks that fewer steps outweigh the rest
};

std::string_view to_string(choice_reason reason);

/// The path of one operation: what was chosen, on what it ran, and why, with the inputs of the
/// choice.
struct operation_path {
  troupe::algorithm algorithm = troupe::algorithm::none;
  lane_kind lanes = lane_kind::none;
  choice_reason reason = choice_reason::only_algorithm;
  std::uint64_t bytes = 0;            ///< input of the choice: bytes of the larger buffer
  std::uint32_t ranks = 0;            ///< input of the choice: size of the communicator
  std::uint64_t threshold_bytes = 0;  ///< input of the choice: the limit compared with; 0 if none

  friend constexpr bool operator==(const operation_path&, const operation_path&) = default;
};

/// "ring over tcp: above_threshold (1048576 bytes > 65536, 4 ranks)".
std::string to_string(const operation_path& path);

/// Names one transfer between two ranks: which communicator, in which epoch, which of its
/// operations, and which step of that operation. Both sides compute it alike; nothing is matched
/// by order of arrival.
struct transfer_id {
  communicator_id communicator;
  troupe::epoch epoch;
  operation_number operation;
  std::uint32_t step = 0;

  friend constexpr auto operator<=>(const transfer_id&, const transfer_id&) = default;
};

/// Operations on windows, which no call of the peer matches, are numbered by each member for
/// itself: bit 62 is set, bit 61 for a get, bits 36 to 59 are the member, bits 0 to 35 count its
/// calls. The step of a put names the window, and its lowest bit says whether the peer is notified.
inline constexpr std::uint64_t one_sided_bit = 1ull << 62;
inline constexpr std::uint64_t fetch_bit = 1ull << 61;
inline constexpr std::uint64_t one_sided_call_mask = (1ull << 36) - 1;

constexpr operation_number one_sided_number(rank self, std::uint64_t call, bool fetches) {
  return {one_sided_bit | (fetches ? fetch_bit : 0) | std::uint64_t{self.value} << 36 |
          (call & one_sided_call_mask)};
}

/// A put into a window: the other side has no accept for it.
constexpr bool is_window_put(const transfer_id& id) {
  return (id.operation.value & (one_sided_bit | fetch_bit)) == one_sided_bit;
}

/// The step of a put into window `number`.
constexpr std::uint32_t window_step(std::uint32_t number, bool notifies) {
  return number << 1 | (notifies ? 1u : 0u);
}
constexpr std::uint32_t window_of(const transfer_id& put) {
  return put.step >> 1;
}
constexpr bool notifies(const transfer_id& put) {
  return (put.step & 1u) != 0;
}

}  // namespace troupe
