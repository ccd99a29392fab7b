#include "collectives/plan.hpp"

#include <algorithm>
#include <bit>

#include "collectives/direct/direct_scatter_state.hpp"
#include "collectives/partition.hpp"
#include "collectives/ring/ring_shape.hpp"
#include "collectives/transfer_window.hpp"

namespace troupe::collectives {

namespace {

/// Steps and tokens of an operation stay below this, so that they fit 32 bits with one to spare.
constexpr std::uint64_t step_count_max = std::uint64_t{1} << 31;

/// Largest buffer: offsets and sums of offsets stay clear of wrapping.
constexpr std::uint64_t buffer_bytes_max = std::uint64_t{1} << 63;

// -- the choice table of docs/algorithms.md -------------------------------------------------------

bool is_of_this_slice(operation_kind kind) {
  switch (kind) {
    case operation_kind::all_reduce:
    case operation_kind::all_gather:
    case operation_kind::reduce_scatter:
    case operation_kind::broadcast:
    case operation_kind::send:
    case operation_kind::receive:
    case operation_kind::barrier: return true;
    default: return false;
  }
}

bool has_algorithm(operation_kind kind, algorithm which) {
  switch (kind) {
    case operation_kind::all_reduce:
      return which == algorithm::ring || which == algorithm::recursive_doubling;
    case operation_kind::all_gather:
    case operation_kind::reduce_scatter:
      return which == algorithm::ring || which == algorithm::direct;
    case operation_kind::broadcast: return which == algorithm::binomial_tree;
    case operation_kind::send:
    case operation_kind::receive: return which == algorithm::point_to_point;
    case operation_kind::barrier: return which == algorithm::dissemination;
    default: return false;
  }
}

/// Whether a lone rank has to fill an output that is not its input.
bool lone_rank_copies(const plan_request& request) {
  const operation_signature& signature = request.signature;
  if (signature.count == 0) return false;
  switch (signature.kind) {
    case operation_kind::all_reduce:
    case operation_kind::reduce_scatter:
      return !request.in_place || signature.op == reduction::premultiplied_sum;
    case operation_kind::all_gather: return !request.in_place;
    default: return false;
  }
}

void choose(operation_path& path, algorithm which, choice_reason why) {
  path.algorithm = which;
  path.reason = why;
}

/// Kinds whose choice depends on the bytes.
struct choice_row {
  algorithm small = algorithm::direct;
  algorithm large = algorithm::ring;
  std::uint64_t threshold_bytes = 0;
};

void choose_by_bytes(operation_path& path, const choice_row& row) {
  path.threshold_bytes = row.threshold_bytes;
  if (path.bytes <= row.threshold_bytes)
    choose(path, row.small, choice_reason::below_threshold);
  else
    choose(path, row.large, choice_reason::above_threshold);
}

void choose_by_table(operation_path& path, const operation_signature& signature,
                     const tuning& limits) {
  switch (signature.kind) {
    case operation_kind::all_reduce:
      choose_by_bytes(path, {.small = algorithm::recursive_doubling,
                             .threshold_bytes = limits.all_reduce_ring_above_bytes});
      if (path.algorithm == algorithm::ring && signature.count < path.ranks)
        choose(path, algorithm::recursive_doubling, choice_reason::few_elements);
      return;
    case operation_kind::all_gather:
      choose_by_bytes(path, {.threshold_bytes = limits.all_gather_ring_above_bytes});
      return;
    case operation_kind::reduce_scatter:
      choose_by_bytes(path, {.threshold_bytes = limits.reduce_scatter_ring_above_bytes});
      return;
    case operation_kind::broadcast:
      choose(path, algorithm::binomial_tree, choice_reason::only_algorithm);
      return;
    case operation_kind::barrier:
      choose(path, algorithm::dissemination, choice_reason::only_algorithm);
      return;
    default: choose(path, algorithm::point_to_point, choice_reason::only_algorithm); return;
  }
}

operation_path choose_path(const plan_request& request, const tuning& limits, std::uint64_t bytes) {
  operation_path path{.lanes = request.lanes, .bytes = bytes, .ranks = request.size};
  if (request.size == 1)
    choose(path, lone_rank_copies(request) ? algorithm::local_copy : algorithm::none,
           choice_reason::single_rank);
  else if (request.signature.kind != operation_kind::barrier && request.signature.count == 0)
    choose(path, algorithm::none, choice_reason::nothing_to_move);
  else if (request.requested)
    choose(path, *request.requested, choice_reason::requested_by_call);
  else
    choose_by_table(path, request.signature, limits);
  const bool moves = path.algorithm != algorithm::none && path.algorithm != algorithm::local_copy;
  if (!moves) path.lanes = lane_kind::none;
  return path;
}

// -- arguments ------------------------------------------------------------------------------------

bool names_known_values(const operation_signature& signature) {
  return size_of(signature.type) != 0 && static_cast<std::size_t>(signature.op) < reduction_count;
}

bool names_members(const plan_request& request) {
  if (request.size == 0 || request.size > rank_count_max) return false;
  if (request.self.value >= request.size) return false;
  switch (request.signature.kind) {
    case operation_kind::send:
    case operation_kind::receive:
      return request.peer.value < request.size && request.peer != request.self;
    case operation_kind::broadcast: return request.signature.root < request.size;
    default: return true;
  }
}

bool in_range(const tuning& limits) {
  return limits.chunk_bytes > 0 && limits.pipeline_chunk_count > 0 &&
         limits.pipeline_chunk_count <= window_width_max;
}

/// Bytes of the larger buffer; none if there are too many.
std::optional<std::uint64_t> buffer_bytes(const plan_request& request) {
  const operation_signature& signature = request.signature;
  if (signature.kind == operation_kind::barrier) return 0;
  const bool per_rank = signature.kind == operation_kind::all_gather ||
                        signature.kind == operation_kind::reduce_scatter;
  const std::uint64_t each = size_of(signature.type) * std::uint64_t{per_rank ? request.size : 1};
  if (signature.count >= buffer_bytes_max / each) return std::nullopt;
  return signature.count * each;
}

// -- sizes ----------------------------------------------------------------------------------------

/// Bytes that are cut into chunks: a block, or the whole buffer where there are no blocks.
std::uint64_t unit_bytes(const plan& what) {
  const operation_signature& signature = what.signature;
  const bool in_blocks =
      signature.kind == operation_kind::all_reduce && what.path.algorithm == algorithm::ring;
  return (in_blocks ? pieces_of(signature.count, what.size) : signature.count) *
         size_of(signature.type);
}

/// How many chunks of a unit the step numbers allow.
std::uint64_t chunk_count_max(const plan& what) {
  switch (what.path.algorithm) {
    case algorithm::ring: return step_count_max / (2 * std::uint64_t{what.size}) - window_width_max;
    case algorithm::recursive_doubling:
      return step_count_max / (static_cast<std::uint64_t>(std::bit_width(what.size)) + 2);
    default: return step_count_max;
  }
}

std::uint64_t chunk_bytes_of(const plan& what, const tuning& limits) {
  const std::uint64_t unit = unit_bytes(what);
  std::uint64_t most = std::min(limits.chunk_bytes, unit);
  if (what.path.algorithm == algorithm::ring)
    most = std::min(most,
                    std::max(ring_chunk_bytes_min, pieces_of(unit, limits.pipeline_chunk_count)));
  const std::uint64_t element = size_of(what.signature.type);
  const std::uint64_t least = pieces_of(unit, chunk_count_max(what));
  return std::max({most / element, pieces_of(least, element), std::uint64_t{1}}) * element;
}

std::uint64_t scratch_bytes_of(const plan& what) {
  switch (what.path.algorithm) {
    case algorithm::ring: return ring_shape_of(what).scratch_chunk_count() * what.chunk_bytes;
    case algorithm::recursive_doubling: return 2 * what.chunk_bytes;
    case algorithm::direct:
      if (what.signature.kind == operation_kind::all_gather) return 0;
      return direct_scatter_scratch_chunk_count(what) * what.chunk_bytes;
    default: return 0;
  }
}

}  // namespace

result<plan> make_plan(const plan_request& request, const tuning& limits) {
  const operation_signature& signature = request.signature;
  if (!is_of_this_slice(signature.kind)) return fail(errc::not_available);
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
  what.chunk_bytes = chunk_bytes_of(what, limits);
  what.scratch_bytes = scratch_bytes_of(what);
  return what;
}

}  // namespace troupe::collectives
