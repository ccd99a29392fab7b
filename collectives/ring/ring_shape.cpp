#include "collectives/ring/ring_shape.hpp"

#include <algorithm>

#include "collectives/partition.hpp"
#include "runtime/data_type.hpp"

namespace troupe::collectives {

ring_shape ring_shape_of(const plan& what) {
  const operation_signature& signature = what.signature;
  const bool reduce_only = signature.kind == operation_kind::reduce_scatter;
  const bool gather_only = signature.kind == operation_kind::all_gather;
  const std::uint64_t block_elements = signature.kind == operation_kind::all_reduce
                                           ? pieces_of(signature.count, what.size)
                                           : signature.count;
  ring_shape shape;
  shape.rank_count = what.size;
  shape.first_time = gather_only ? what.size - 1 : 0;
  shape.time_count = (reduce_only || gather_only ? 1 : 2) * (what.size - 1);
  shape.block_chunk_count = pieces_of(block_elements * size_of(signature.type), what.chunk_bytes);

  // A reduce_scatter keeps a partial in the slot it landed in until it is sent on, a group later:
  // so many slots beside those that arrivals are waited for in.
  const std::uint32_t width = what.pipeline_chunk_count;
  const std::uint64_t group = reduce_only ? std::max(1u, width / 2) : width;
  shape.group_chunk_count =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(group, shape.block_chunk_count));
  shape.group_count = pieces_of(shape.block_chunk_count, shape.group_chunk_count);
  if (!gather_only) shape.slot_count = reduce_only ? width + shape.group_chunk_count : width;
  if (reduce_only && signature.op == reduction::premultiplied_sum) shape.stage_count = width;
  return shape;
}

}  // namespace troupe::collectives
