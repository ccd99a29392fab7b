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

layout layout_of(const plan& what) {
  const operation_signature& signature = what.signature;
  const std::uint64_t bytes = signature.count * size_of(signature.type);
  switch (signature.kind) {
    case operation_kind::all_reduce: return {bytes, bytes, 0};
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

algorithm_state make_part(const collective_task& task) {
  switch (task.what.path.algorithm) {
    case algorithm::none:
    case algorithm::local_copy: return make_local_state(task);
    case algorithm::ring: return make_ring_state(task);
    case algorithm::recursive_doubling: return make_recursive_doubling_state(task);
    case algorithm::direct:
      if (task.kind() == operation_kind::all_gather) return make_direct_gather_state(task);
      return make_direct_scatter_state(task);
    case algorithm::binomial_tree: return make_binomial_tree_state(task);
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

  collective_state state;
  state.task = {.what = what, .buffers = buffers};
  const bool both = expected.send_bytes != 0 && expected.receive_bytes != 0;
  if (both && overlap(buffers.send, buffers.receive)) {
    const bool output_inside = what.signature.kind == operation_kind::reduce_scatter;
    const buffer_view& outer = output_inside ? buffers.send : buffers.receive;
    const buffer_view& inner = output_inside ? buffers.receive : buffers.send;
    if (inner.offset != outer.offset + expected.offset_in_place) return fail(errc::bad_argument);
    state.task.in_place = true;
  }
  state.part = make_part(state.task);
  return state;
}

}  // namespace troupe::collectives
