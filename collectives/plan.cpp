#include "collectives/plan.hpp"

#include <algorithm>
#include <bit>

#include "collectives/direct/direct_scatter_state.hpp"
#include "collectives/partition.hpp"
#include "collectives/plan_choice.hpp"
#include "collectives/recursive_halving/recursive_halving_state.hpp"
#include "collectives/reduce_tree/reduce_tree_state.hpp"
#include "collectives/ring/ring_shape.hpp"
#include "collectives/transfer_window.hpp"

namespace troupe::collectives {

namespace {

/// Largest buffer: offsets and sums of offsets stay clear of wrapping.
constexpr std::uint64_t buffer_bytes_max = std::uint64_t{1} << 63;

// -- arguments ------------------------------------------------------------------------------------

/// A split is planned as the all_gather that it is.
bool is_planned(operation_kind kind) {
  return kind >= operation_kind::all_reduce && kind <= operation_kind::all_to_all_v &&
         kind != operation_kind::split;
}

bool names_known_values(const operation_signature& signature) {
  return size_of(signature.type) != 0 && static_cast<std::size_t>(signature.op) < reduction_count;
}

bool names_members(const plan_request& request) {
  if (request.size == 0 || request.size > rank_count_max) return false;
  if (request.self.value >= request.size) return false;
  switch (request.signature.kind) {
    case operation_kind::send:
    case operation_kind::receive: return request.peer.value < request.size;
    case operation_kind::broadcast:
    case operation_kind::reduce:
    case operation_kind::gather:
    case operation_kind::scatter: return request.signature.root < request.size;
    default: return true;
  }
}

bool in_range(const tuning& limits) {
  return limits.chunk_bytes > 0 && limits.pipeline_chunk_count > 0 &&
         limits.pipeline_chunk_count <= window_width_max && limits.ftar_chunk_bytes > 0 &&
         limits.ftar_chunk_count > 0 && limits.ftar_chunk_count <= window_width_max;
}

/// Kinds whose larger buffer has a block for each rank.
bool has_blocks(operation_kind kind) {
  switch (kind) {
    case operation_kind::all_gather:
    case operation_kind::reduce_scatter:
    case operation_kind::gather:
    case operation_kind::scatter:
    case operation_kind::all_to_all: return true;
    default: return false;
  }
}

/// Bytes of the larger buffer; none if there are too many.
std::optional<std::uint64_t> buffer_bytes(const plan_request& request) {
  const operation_signature& signature = request.signature;
  if (signature.kind == operation_kind::barrier) return 0;
  const std::uint64_t blocks = has_blocks(signature.kind) ? request.size : 1;
  const std::uint64_t each = size_of(signature.type) * blocks;
  if (signature.count >= buffer_bytes_max / each) return std::nullopt;
  return signature.count * each;
}

// -- sizes ----------------------------------------------------------------------------------------

bool is_ring(const plan& what) {
  return what.path.algorithm == algorithm::ring || what.path.algorithm == algorithm::ftar;
}

/// Bytes that are cut into chunks: a block, a run of blocks, or the whole buffer where there are no
/// blocks.
std::uint64_t unit_bytes(const plan& what) {
  const operation_signature& signature = what.signature;
  std::uint64_t elements = signature.count;
  if (signature.kind == operation_kind::all_reduce && is_ring(what))
    elements = pieces_of(signature.count, what.size);
  if (what.path.algorithm == algorithm::bruck) elements *= what.size / 2;
  if (what.path.algorithm == algorithm::binary_tree) elements *= what.size;
  return elements * size_of(signature.type);
}

/// How many chunks of a unit the step numbers allow.
std::uint64_t chunk_count_max(const plan& what) {
  const auto rounds = static_cast<std::uint64_t>(std::bit_width(what.size));
  switch (what.path.algorithm) {
    case algorithm::ring:
    case algorithm::ftar: return step_count_max / (2 * std::uint64_t{what.size}) - window_width_max;
    case algorithm::recursive_doubling: return step_count_max / (rounds + 2);
    case algorithm::recursive_halving: return step_count_max / (2 * rounds + 2);
    case algorithm::bruck:
    case algorithm::binary_tree:
    case algorithm::binomial_tree: return step_count_max / 2;
    default: return step_count_max;
  }
}

std::uint64_t largest_chunk_bytes(const plan& what, std::uint64_t unit, const tuning& limits) {
  // The blocks of an all_to_all_v differ; each pair cuts its own.
  if (what.signature.kind == operation_kind::all_to_all_v) return limits.chunk_bytes;
  if (what.path.algorithm == algorithm::chain)
    return std::min(unit, chain_chunk_bytes(unit, limits));
  const bool is_ftar = what.path.algorithm == algorithm::ftar;
  const std::uint64_t most = std::min(is_ftar ? limits.ftar_chunk_bytes : limits.chunk_bytes, unit);
  if (!is_ring(what)) return most;
  return std::min(most, std::max(ring_chunk_bytes_min, pieces_of(unit, what.pipeline_chunk_count)));
}

std::uint64_t chunk_bytes_of(const plan& what, const tuning& limits) {
  const std::uint64_t unit = unit_bytes(what);
  const std::uint64_t most = largest_chunk_bytes(what, unit, limits);
  const std::uint64_t element = size_of(what.signature.type);
  const std::uint64_t least = pieces_of(unit, chunk_count_max(what));
  return std::max({most / element, pieces_of(least, element), std::uint64_t{1}}) * element;
}

std::uint64_t scratch_bytes_of(const plan& what) {
  switch (what.path.algorithm) {
    case algorithm::ring:
    case algorithm::ftar: return ring_shape_of(what).scratch_chunk_count() * what.chunk_bytes;
    case algorithm::recursive_doubling: return 2 * what.chunk_bytes;
    case algorithm::recursive_halving: return recursive_halving_scratch_bytes(what);
    case algorithm::binomial_tree:
    case algorithm::chain:
      if (what.signature.kind == operation_kind::broadcast) return 0;
      return reduce_tree_scratch_chunk_count(what) * what.chunk_bytes;
    case algorithm::direct:
      if (what.signature.kind != operation_kind::reduce_scatter) return 0;
      return direct_scatter_scratch_chunk_count(what) * what.chunk_bytes;
    default: return 0;
  }
}

}  // namespace

result<plan> make_plan(const plan_request& request, const tuning& limits) {
  const operation_signature& signature = request.signature;
  if (!is_planned(signature.kind)) return fail(errc::not_available);
  if (!names_known_values(signature) || !names_members(request) || !in_range(limits))
    return fail(errc::bad_argument);
  if (request.requested && !has_algorithm(signature.kind, *request.requested))
    return fail(errc::bad_argument);
  const std::optional<std::uint64_t> bytes = buffer_bytes(request);
  if (!bytes) return fail(errc::bad_argument);

  plan what{.signature = signature,
            .path = choose_path(request, limits, *bytes),
            .self = request.self,
            .size = request.size,
            .pipeline_chunk_count = limits.pipeline_chunk_count,
            .peer = request.peer};
  if (what.path.algorithm == algorithm::ftar) what.pipeline_chunk_count = limits.ftar_chunk_count;
  what.chunk_bytes = chunk_bytes_of(what, limits);
  what.scratch_bytes = scratch_bytes_of(what);
  if (what.path.algorithm == algorithm::ftar && request.in_place) what.saved_bytes = *bytes;
  return what;
}

}  // namespace troupe::collectives
