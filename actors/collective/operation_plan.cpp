#include "actors/collective/operation_plan.hpp"

namespace troupe::actors {

result<collectives::plan> plan_operation(const operation_request& request, rank self,
                                         std::uint32_t size, const endpoint_context& context) {
  const auto& options = context.options.collective;
  const collectives::tuning limits{
      .all_reduce_ring_above_bytes = options.all_reduce_ring_above_bytes,
      .all_gather_ring_above_bytes = options.all_gather_ring_above_bytes,
      .reduce_scatter_ring_above_bytes = options.reduce_scatter_ring_above_bytes,
      .chunk_bytes = options.chunk_bytes,
      .pipeline_chunk_count = options.pipeline_chunk_count};
  auto signature = request.signature;
  // A split is an all-gather of what each member wants; it keeps its own kind on the wire.
  if (signature.kind == operation_kind::split) signature.kind = operation_kind::all_gather;
  return collectives::make_plan({.signature = signature,
                                 .self = self,
                                 .size = size,
                                 .lanes = size == 1 ? lane_kind::none : context.network.kind(),
                                 .requested = request.algorithm,
                                 .in_place = request.in_place,
                                 .peer = request.peer},
                                limits);
}

operation_signature wire_signature(const operation_signature& called) {
  auto signature = called;
  if (called.kind == operation_kind::receive) signature.kind = operation_kind::send;
  return signature;
}

}  // namespace troupe::actors
