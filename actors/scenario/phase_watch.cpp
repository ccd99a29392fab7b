#include "actors/scenario/phase_watch.hpp"

#include <algorithm>

#include "actors/collective/operation_plan.hpp"
#include "collectives/ring/ring_shape.hpp"

namespace troupe::actors {

namespace {

bool is_ring_all_reduce(const operation_entry& entry) {
  const auto& request = entry.work->request();
  return request.signature.kind == operation_kind::all_reduce &&
         request.algorithm == algorithm::ring;
}

}  // namespace

bool is_in_phase(endpoint_context& context, scenario::phase_kind phase) {
  for (const auto& entry : context.operations.entries()) {
    if (!entry.live || entry.open.empty() || !is_ring_all_reduce(entry)) continue;
    const auto planned = plan_operation(entry, context);
    if (!planned) continue;
    const auto shape = collectives::ring_shape_of(*planned);
    // Its last reduction is done when a rank hands its own block on: its first put of the second
    // half.
    const std::uint32_t first_handed_on = shape.rank_count - 1;
    const bool handed_on = std::any_of(entry.open.begin(), entry.open.end(), [&](const auto& each) {
      return each.is_put && collectives::ring_piece_at(shape, each.step).time >= first_handed_on;
    });
    if (phase == scenario::phase_kind::reduce_scatter ? !handed_on : handed_on) return true;
  }
  return false;
}

}  // namespace troupe::actors
