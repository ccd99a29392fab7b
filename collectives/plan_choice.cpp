#include "collectives/plan_choice.hpp"

#include <algorithm>
#include <bit>

namespace troupe::collectives {

namespace {

/// Chunks that a chain cuts its buffer into, where they are neither too small nor too large
/// (chosen: with 16 a chain of 4 hops takes a quarter longer than its bytes, and chunks of 1 MiB
/// from 16 MiB on keep the fixed cost of a transfer low).
constexpr std::uint64_t chain_chunk_count = 16;

/// Whether a lone rank has to fill an output that is not its input.
bool lone_rank_copies(const plan_request& request) {
  const operation_signature& signature = request.signature;
  if (signature.kind == operation_kind::all_to_all_v) return true;
  if (signature.count == 0) return false;
  switch (signature.kind) {
    case operation_kind::all_reduce:
    case operation_kind::reduce_scatter:
    case operation_kind::reduce:
      return !request.in_place || signature.op == reduction::premultiplied_sum;
    case operation_kind::all_gather:
    case operation_kind::gather:
    case operation_kind::scatter: return !request.in_place;
    case operation_kind::all_to_all: return true;
    default: return false;
  }
}

bool is_to_self(const plan_request& request) {
  const operation_kind kind = request.signature.kind;
  const bool names_peer = kind == operation_kind::send || kind == operation_kind::receive;
  return names_peer && request.peer == request.self;
}

/// A barrier has no elements, and the counts of an all_to_all_v are not known to all ranks. A send
/// or receive without elements moves a message without bytes: the other side may expect more, and
/// then both have to hear of it.
bool may_have_nothing_to_move(operation_kind kind) {
  switch (kind) {
    case operation_kind::barrier:
    case operation_kind::all_to_all_v:
    case operation_kind::send:
    case operation_kind::receive: return false;
    default: return true;
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

void choose_all_reduce(operation_path& path, std::uint64_t count, const tuning& limits) {
  choose_by_bytes(path, {.small = algorithm::recursive_doubling,
                         .large = algorithm::recursive_halving,
                         .threshold_bytes = limits.all_reduce_halving_above_bytes});
  if (path.bytes > limits.all_reduce_ring_above_bytes)
    choose_by_bytes(path, {.threshold_bytes = limits.all_reduce_ring_above_bytes});
  if (path.algorithm != algorithm::recursive_doubling && count < path.ranks)
    choose(path, algorithm::recursive_doubling, choice_reason::few_elements);
}

void choose_all_gather(operation_path& path, const tuning& limits) {
  choose_by_bytes(path, {.threshold_bytes = limits.all_gather_ring_above_bytes});
  if (path.algorithm == algorithm::direct && path.ranks > limits.all_gather_bruck_above_ranks)
    choose(path, algorithm::bruck, choice_reason::many_ranks);
}

/// A tree sends the buffer ceil(log2 P) times from the root; a chain sends it once, and its last
/// rank waits for P - 2 chunks more.
bool chain_is_too_long(const operation_path& path, const tuning& limits) {
  const std::uint64_t saved = path.bytes / 2 * (std::bit_width(path.ranks - 1) - 1);
  return (path.ranks - 2) * (chain_chunk_bytes(path.bytes, limits) / 2) > saved;
}

void choose_tree_or_chain(operation_path& path, std::uint64_t threshold_bytes,
                          const tuning& limits) {
  choose_by_bytes(path, {.small = algorithm::binomial_tree,
                         .large = algorithm::chain,
                         .threshold_bytes = threshold_bytes});
  if (path.algorithm == algorithm::chain && chain_is_too_long(path, limits))
    choose(path, algorithm::binomial_tree, choice_reason::many_ranks);
}

void choose_by_table(operation_path& path, const operation_signature& signature,
                     const tuning& limits) {
  switch (signature.kind) {
    case operation_kind::all_reduce: choose_all_reduce(path, signature.count, limits); return;
    case operation_kind::all_gather: choose_all_gather(path, limits); return;
    case operation_kind::reduce_scatter:
      choose_by_bytes(path, {.threshold_bytes = limits.reduce_scatter_ring_above_bytes});
      return;
    case operation_kind::broadcast:
      choose_tree_or_chain(path, limits.broadcast_chain_above_bytes, limits);
      return;
    case operation_kind::reduce:
      choose_tree_or_chain(path, limits.reduce_chain_above_bytes, limits);
      return;
    case operation_kind::barrier:
      choose(path, algorithm::dissemination, choice_reason::only_algorithm);
      return;
    case operation_kind::send:
    case operation_kind::receive:
      choose(path, algorithm::point_to_point, choice_reason::only_algorithm);
      return;
    default: choose(path, algorithm::direct, choice_reason::only_algorithm); return;
  }
}

}  // namespace

bool has_algorithm(operation_kind kind, algorithm which) {
  switch (kind) {
    case operation_kind::all_reduce:
      return which == algorithm::ring || which == algorithm::recursive_doubling ||
             which == algorithm::recursive_halving || which == algorithm::binomial_tree ||
             which == algorithm::ftar;
    case operation_kind::all_gather:
      return which == algorithm::ring || which == algorithm::direct || which == algorithm::bruck ||
             which == algorithm::binary_tree;
    case operation_kind::reduce_scatter:
      return which == algorithm::ring || which == algorithm::direct;
    case operation_kind::broadcast:
    case operation_kind::reduce:
      return which == algorithm::binomial_tree || which == algorithm::chain;
    case operation_kind::gather:
    case operation_kind::scatter:
    case operation_kind::all_to_all:
    case operation_kind::all_to_all_v: return which == algorithm::direct;
    case operation_kind::send:
    case operation_kind::receive: return which == algorithm::point_to_point;
    case operation_kind::barrier: return which == algorithm::dissemination;
    default: return false;
  }
}

std::uint64_t chain_chunk_bytes(std::uint64_t bytes, const tuning& limits) {
  return std::min(limits.chunk_bytes, std::max(ring_chunk_bytes_min, bytes / chain_chunk_count));
}

operation_path choose_path(const plan_request& request, const tuning& limits, std::uint64_t bytes) {
  operation_path path{.lanes = request.lanes, .bytes = bytes, .ranks = request.size};
  const operation_kind kind = request.signature.kind;
  if (is_to_self(request) && request.signature.count != 0)
    choose(path, algorithm::point_to_point, choice_reason::only_algorithm);
  else if (request.size == 1)
    choose(path, lone_rank_copies(request) ? algorithm::local_copy : algorithm::none,
           choice_reason::single_rank);
  else if (may_have_nothing_to_move(kind) && request.signature.count == 0)
    choose(path, algorithm::none, choice_reason::nothing_to_move);
  else if (request.requested)
    choose(path, *request.requested, choice_reason::requested_by_call);
  else
    choose_by_table(path, request.signature, limits);
  const bool moves = path.algorithm != algorithm::none && path.algorithm != algorithm::local_copy;
  if (!moves || is_to_self(request)) path.lanes = lane_kind::none;
  return path;
}

}  // namespace troupe::collectives
