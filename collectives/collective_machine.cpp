#include "collectives/collective_machine.hpp"

#include "collectives/binary_tree/binary_tree_machine.hpp"
#include "collectives/binomial_tree/binomial_tree_machine.hpp"
#include "collectives/bruck/bruck_machine.hpp"
#include "collectives/direct/direct_exchange_machine.hpp"
#include "collectives/direct/direct_gather_machine.hpp"
#include "collectives/direct/direct_root_machine.hpp"
#include "collectives/direct/direct_scatter_machine.hpp"
#include "collectives/dissemination/dissemination_machine.hpp"
#include "collectives/ftar/ftar_machine.hpp"
#include "collectives/local/local_machine.hpp"
#include "collectives/point_to_point/point_to_point_machine.hpp"
#include "collectives/recursive_doubling/recursive_doubling_machine.hpp"
#include "collectives/recursive_halving/recursive_halving_machine.hpp"
#include "collectives/reduce_broadcast/reduce_broadcast_machine.hpp"
#include "collectives/reduce_tree/reduce_tree_machine.hpp"
#include "collectives/ring/ring_machine.hpp"
#include "runtime/mark.hpp"

namespace troupe::collectives {

namespace {

template <class Part>
bool on_event(const collective_task& task, Part& part, const collective_started&,
              collective_effects& out) {
  start(task, part, out);
  return true;
}

/// True if the event came at its time; `collective_started` comes first, once.
bool is_due(const collective_state& state, const collective_event& event) {
  const bool is_start = std::holds_alternative<collective_started>(event);
  return state.phase == (is_start ? collective_phase::planned : collective_phase::running);
}

}  // namespace

bool holds_result(const collective_state& state) {
  const auto* part = std::get_if<ftar_state>(&state.part);
  return part != nullptr && part->phase >= ftar_phase::confirming;
}

bool has_saved_input(const collective_state& state) {
  const auto* part = std::get_if<ftar_state>(&state.part);
  return part != nullptr && state.task.in_place && part->phase >= ftar_phase::exchanging;
}

void step(collective_state& state, const collective_event& event, collective_effects& out) {
  const auto take = [&](auto& part, const auto& what) {
    return on_event(state.task, part, what, out);
  };
  if (!is_due(state, event) || !std::visit(take, state.part, event)) {
    TROUPE_MARK("collective event ignored");
    ++state.ignored;
    return;
  }
  state.phase = collective_phase::running;
  std::visit([&](auto& part) { advance(state.task, part, out); }, state.part);
  if (!std::visit([&](auto& part) { return is_complete(state.task, part); }, state.part)) return;
  state.phase = collective_phase::finished;
  out.push_back(finish{});
}

}  // namespace troupe::collectives
