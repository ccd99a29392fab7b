#pragma once

#include <caf/actor_storage.hpp>

#include <type_traits>
#include <utility>

#include "actors/caf_compat.hpp"
#include "actors/endpoint/endpoint_context.hpp"
#include "runtime/memory_ledger.hpp"

namespace troupe::actors {

/// An actor's state, and what the actor costs while it lives.
template <class State>
class accounted_state : public State {
 public:
  accounted_state() {}

  memory_charge held;
};

/// Spawns an actor on the endpoint's worker: makes its state, calls `init` and `make_behavior` of
/// it, and enters the actor in the ledger. What CAF keeps beside the actor's own block (behaviour,
/// attachments; some 500 bytes) is not in there.
template <class Handle, class State, class... Arguments>
Handle spawn_actor(endpoint_context& context, Arguments... arguments) {
  using pointer = typename Handle::template stateful_pointer<accounted_state<State>>;
  using storage = caf::actor_storage<std::remove_pointer_t<pointer>>;
  return context.home.system().spawn(
      [](pointer self, endpoint_context* shared, Arguments... more) {
        auto& state = self->state;
        state.held = {&shared->ledger, memory_purpose::actors, sizeof(storage)};
        state.init(self, *shared, std::move(more)...);
        return state.make_behavior();
      },
      &context, std::move(arguments)...);
}

}  // namespace troupe::actors
