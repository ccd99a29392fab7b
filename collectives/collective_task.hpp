#pragma once

#include <cstdint>
#include <span>

#include "collectives/peer_block.hpp"
#include "collectives/plan.hpp"
#include "runtime/buffer_view.hpp"
#include "runtime/data_type.hpp"
#include "runtime/strong_types.hpp"

namespace troupe::collectives {

/// Buffers of one rank in one operation.
///
/// all_reduce, all_gather, reduce_scatter, all_to_all, all_to_all_v: input and output; in place as
/// runtime/communicator.hpp says. reduce, gather: `receive` at the root alone. scatter: `send` at
/// the root alone. broadcast and receive: `receive` alone. send: `send` alone. barrier: neither.
/// `scratch` has at least `plan::scratch_bytes` bytes and overlaps neither.
struct collective_buffers {
  buffer_view send{};
  buffer_view receive{};
  buffer_view scratch{};
  buffer_view saved{};  ///< `plan::saved_bytes`, overlapping nothing: takes the input in place
  /// all_to_all_v: one block a rank, read until the operation is finished; whoever drives keeps it.
  std::span<const peer_block> blocks{};
};

/// What does not change while an operation runs: its plan and its buffers.
struct collective_task {
  plan what;
  collective_buffers buffers;
  bool in_place = false;  ///< the input of this rank lies in its output, or the reverse

  operation_kind kind() const { return what.signature.kind; }
  std::uint64_t element_bytes() const { return size_of(what.signature.type); }

  bool reduces() const {
    return kind() == operation_kind::all_reduce || kind() == operation_kind::reduce_scatter ||
           kind() == operation_kind::reduce;
  }
  /// Every rank multiplies its own input by its scalar before anything is added.
  bool scales() const { return reduces() && what.signature.op == reduction::premultiplied_sum; }
  /// The last combination divides by the number of contributors.
  bool averages() const { return reduces() && what.signature.op == reduction::average; }

  rank root() const { return rank{what.signature.root}; }
  bool is_root() const { return what.self == root(); }

  /// The rank `distance` places behind this one on the ring, distance <= size.
  rank after(std::uint32_t distance) const {
    return rank{(what.self.value + distance) % what.size};
  }
  /// The rank `distance` places before this one on the ring, distance <= size.
  rank before(std::uint32_t distance) const {
    return rank{(what.self.value + what.size - distance) % what.size};
  }

  /// The distance with after(distance) == other, 0 to size - 1.
  std::uint32_t distance_after(rank other) const {
    return (other.value + what.size - what.self.value) % what.size;
  }
  /// The distance with before(distance) == other, 0 to size - 1.
  std::uint32_t distance_before(rank other) const {
    return (what.self.value + what.size - other.value) % what.size;
  }

  /// Place `index` of the chunks in scratch.
  buffer_view scratch_chunk(std::uint64_t index, std::uint64_t bytes) const {
    return buffers.scratch.part(index * what.chunk_bytes, bytes);
  }
};

}  // namespace troupe::collectives
