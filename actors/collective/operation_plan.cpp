#include "actors/collective/operation_plan.hpp"

#include "actors/rank/rank_machine.hpp"

namespace troupe::actors {

result<collectives::plan> plan_operation(const operation_entry& entry, endpoint_context& context) {
  const auto& request = entry.work->request();
  const auto& options = context.options.collective;
  const collectives::tuning limits{
      .all_reduce_halving_above_bytes = options.all_reduce_halving_above_bytes,
      .all_reduce_ring_above_bytes = options.all_reduce_ring_above_bytes,
      .all_gather_ring_above_bytes = options.all_gather_ring_above_bytes,
      .all_gather_bruck_above_ranks = options.all_gather_bruck_above_ranks,
      .reduce_scatter_ring_above_bytes = options.reduce_scatter_ring_above_bytes,
      .broadcast_chain_above_bytes = options.broadcast_chain_above_bytes,
      .reduce_chain_above_bytes = options.reduce_chain_above_bytes,
      .chunk_bytes = options.chunk_bytes,
      .pipeline_chunk_count = options.pipeline_chunk_count,
      .ftar_chunk_bytes = context.options.fault_tolerance.chunk_bytes,
      .ftar_chunk_count = context.options.fault_tolerance.chunk_count};
  collectives::plan_request wanted{.signature = request.signature,
                                   .self = entry.self,
                                   .size = entry.members->size(),
                                   .lanes = context.lanes_among(entry.communicator, *entry.members),
                                   .requested = request.algorithm,
                                   .in_place = request.in_place,
                                   .peer = request.peer};
  if (entry.promise) {
    wanted.requested = algorithm::ftar;
    wanted.in_place = request.in_place && !entry.promise->saved;
  }
  // A split is an all-gather of what each member wants, with as many messages a member whatever the
  // size of the communicator; it keeps its own kind on the wire.
  if (wanted.signature.kind == operation_kind::split) {
    wanted.signature.kind = operation_kind::all_gather;
    wanted.requested = algorithm::binary_tree;
  }
  if (const auto kind = wanted.signature.kind; is_one_sided(kind)) {
    // What moves between two members, or is waited for, without a call of the other.
    wanted.signature.kind =
        kind == operation_kind::put ? operation_kind::send : operation_kind::receive;
    if (kind == operation_kind::wait_notifications) wanted.signature.count = 0;
  }
  return collectives::make_plan(wanted, limits);
}

operation_signature wire_signature(const operation_request& request, rank peer, bool was_put) {
  auto signature = request.signature;
  if (signature.kind == operation_kind::receive) signature.kind = operation_kind::send;
  if (signature.kind != operation_kind::all_to_all_v) return signature;
  const collectives::peer_block& block = (*request.blocks)[to_index(peer)];
  signature.count = (was_put ? block.send_bytes : block.receive_bytes) / size_of(signature.type);
  return signature;
}

std::string describe_mismatch(const operation_request& request, operation_number number,
                              const operation_signature& theirs, const transfer_ends& ends) {
  const auto name = [](rank r) { return "rank " + std::to_string(r.value); };
  const std::string text = "operation " + std::to_string(shown(number)) + ": ";
  const auto ours = wire_signature(request, ends.peer, ends.was_put);
  if (is_one_sided(ours.kind))
    return text + name(ends.peer) + " has closed the window of " + to_string(ours) +
           ", or it is smaller";
  const bool counts_alone = ours.kind == operation_kind::all_to_all_v && theirs.kind == ours.kind &&
                            theirs.type == ours.type;
  if (!counts_alone)
    return text + name(ends.self) + " called " + to_string(ours) + ", " + name(ends.peer) +
           " called " + to_string(theirs);
  const std::string sent = std::to_string(ends.was_put ? ours.count : theirs.count);
  const std::string expected = std::to_string(ends.was_put ? theirs.count : ours.count);
  const rank from = ends.was_put ? ends.self : ends.peer;
  const rank to = ends.was_put ? ends.peer : ends.self;
  return text + "all_to_all_v: " + name(from) + " sends " + sent + " elements of " +
         std::string(to_string(ours.type)) + " to " + name(to) + ", which expects " + expected;
}

}  // namespace troupe::actors
