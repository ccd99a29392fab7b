#include "collectives/collective_state.hpp"

#include "runtime/assert.hpp"

namespace troupe::collectives {

namespace {

/// Bytes of both buffers, and where the input lies in the output when in place (or, for
/// reduce_scatter, the output in the input).
struct layout {
  std::uint64_t send_bytes = 0;
  std::uint64_t receive_bytes = 0;
  std::uint64_t offset_in_place = 0;
};

/// No place of the input in the output is right.
constexpr std::uint64_t no_place = ~std::uint64_t{0};

layout layout_of(const plan& what) {
  const operation_signature& signature = what.signature;
  const bool at_root = what.self.value == signature.root;
  const std::uint64_t bytes = signature.count * size_of(signature.type);
  switch (signature.kind) {
    case operation_kind::all_reduce: return {bytes, bytes, 0};
    case operation_kind::reduce: return {bytes, at_root ? bytes : 0, 0};
    case operation_kind::gather:
      return {bytes, at_root ? bytes * what.size : 0, what.self.value * bytes};
    case operation_kind::scatter:
      return {at_root ? bytes * what.size : 0, bytes, what.self.value * bytes};
    case operation_kind::all_to_all: return {bytes * what.size, bytes * what.size, no_place};
    case operation_kind::all_gather: return {bytes, bytes * what.size, what.self.value * bytes};
    case operation_kind::reduce_scatter: return {bytes * what.size, bytes, what.self.value * bytes};
    case operation_kind::send: return {bytes, 0, 0};
    case operation_kind::broadcast:
    case operation_kind::receive: return {0, bytes, 0};
    default: return {};
  }
}

bool overlap(const buffer_view& one, const buffer_view& other) {
  if (one.id != other.id || one.bytes == 0 || other.bytes == 0) return false;
  return one.offset < other.offset + other.bytes && other.offset < one.offset + one.bytes;
}

algorithm_state make_direct_part(const collective_task& task) {
  switch (task.kind()) {
    case operation_kind::all_gather: return make_direct_gather_state(task);
    case operation_kind::reduce_scatter: return make_direct_scatter_state(task);
    case operation_kind::gather:
    case operation_kind::scatter: return make_direct_root_state(task);
    default: return make_direct_exchange_state(task);
  }
}

bool blocks_fit(const plan& what, const collective_buffers& buffers) {
  if (what.signature.kind != operation_kind::all_to_all_v) return true;
  if (buffers.blocks.size() != what.size) return false;
  const auto inside = [](const buffer_view& buffer, std::uint64_t offset, std::uint64_t bytes) {
    return offset <= buffer.bytes && bytes <= buffer.bytes - offset;
  };
  for (const peer_block& block : buffers.blocks) {
    if (block.send_bytes != 0 && !inside(buffers.send, block.send_offset, block.send_bytes))
      return false;
    if (block.receive_bytes != 0 &&
        !inside(buffers.receive, block.receive_offset, block.receive_bytes))
      return false;
  }
  const peer_block& own = buffers.blocks[what.self.value];
  return own.send_bytes == own.receive_bytes;
}

algorithm_state make_part(const collective_task& task) {
  switch (task.what.path.algorithm) {
    case algorithm::none: return make_local_state(task);
    case algorithm::local_copy:
      if (task.kind() == operation_kind::all_to_all_v) return make_direct_exchange_state(task);
      return make_local_state(task);
    case algorithm::ring: return make_ring_state(task);
    case algorithm::recursive_doubling: return make_recursive_doubling_state(task);
    case algorithm::direct: return make_direct_part(task);
    case algorithm::chain:
    case algorithm::binomial_tree:
      if (task.kind() == operation_kind::reduce) return make_reduce_tree_state(task);
      if (task.kind() == operation_kind::all_reduce) return make_reduce_broadcast_state(task);
      return make_binomial_tree_state(task);
    case algorithm::recursive_halving: return make_recursive_halving_state(task);
    case algorithm::bruck: return make_bruck_state(task);
    case algorithm::binary_tree: return make_binary_tree_state(task);
    case algorithm::ftar: return make_ftar_state(task);
    case algorithm::dissemination: return make_dissemination_state(task);
    case algorithm::point_to_point: return point_to_point_state{};
  }
  TROUPE_ASSERT(!"a plan names a known algorithm");
  return {};
}

}  // namespace

result<collective_state> make_state(const plan& what, const collective_buffers& buffers) {
  const layout expected = layout_of(what);
  if (expected.send_bytes != 0 && buffers.send.bytes != expected.send_bytes)
    return fail(errc::bad_argument);
  if (expected.receive_bytes != 0 && buffers.receive.bytes != expected.receive_bytes)
    return fail(errc::bad_argument);
  if (buffers.scratch.bytes < what.scratch_bytes) return fail(errc::bad_argument);
  if (buffers.saved.bytes < what.saved_bytes) return fail(errc::bad_argument);
  if (!blocks_fit(what, buffers)) return fail(errc::bad_argument);

  collective_state state;
  state.task = {.what = what, .buffers = buffers};
  const bool both = expected.send_bytes != 0 && expected.receive_bytes != 0;
  if (both && overlap(buffers.send, buffers.receive)) {
    const bool output_inside = what.signature.kind == operation_kind::reduce_scatter ||
                               what.signature.kind == operation_kind::scatter;
    const buffer_view& outer = output_inside ? buffers.send : buffers.receive;
    const buffer_view& inner = output_inside ? buffers.receive : buffers.send;
    if (expected.offset_in_place == no_place) return fail(errc::bad_argument);
    if (inner.offset != outer.offset + expected.offset_in_place) return fail(errc::bad_argument);
    const bool saves = what.path.algorithm == algorithm::ftar;
    if (saves && buffers.saved.bytes != expected.send_bytes) return fail(errc::bad_argument);
    state.task.in_place = true;
  }
  state.part = make_part(state.task);
  return state;
}

}  // namespace troupe::collectives
