#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory_resource>
#include <variant>
#include <vector>

#include "actors/collective/operation_slot.hpp"
#include "runtime/inline_list.hpp"

namespace troupe::actors {

// -- events ---------------------------------------------------------------------------------------

/// The operation of `slot` has everything else that it needs to begin.
struct turn_wanted {
  operation_slot slot;
  bool is_collective = true;  ///< else a pair of ranks calls it: send, receive, or on a window
  bool is_oldest = false;     ///< the oldest collective of its communicator
};

/// What was before the operation of `slot` in its communicator has ended.
struct oldest_named {
  operation_slot slot;
};

/// The operation of `slot` ended, whether it ran or waited.
struct turn_ended {
  operation_slot slot;
};

using turn_event = std::variant<turn_wanted, oldest_named, turn_ended>;

// -- effects --------------------------------------------------------------------------------------

/// The operation that asked may begin.
struct go_on {
  operation_slot slot;
};

/// An operation that waited may begin: tell its runner.
struct start_waiter {
  operation_slot slot;
};

using turn_effect = std::variant<go_on, start_waiter>;

/// Derived: an event lets one operation begin at most.
using turn_effects = inline_list<turn_effect, 1>;

// -- the machine ----------------------------------------------------------------------------------

/// Which collectives of an endpoint run. A collective has up to a window of transfers open with one
/// peer, and a link has room for so many, so `running_count_max` run at once and the others wait in
/// the order in which they asked.
///
/// Two never wait: the oldest collective of a communicator, because the peers may be at work on
/// that one alone, and an operation that is no collective, because what it waits for may be behind
/// it.
struct turn_state {
  turn_state(std::uint32_t count_max, std::pmr::memory_resource* memory)
      : running_count_max(count_max), running(memory), waiting(memory) {}

  std::uint32_t running_count_max;
  std::pmr::vector<operation_slot> running;  ///< collectives that have a turn
  std::pmr::deque<operation_slot> waiting;   ///< oldest first; bounded by the operation table
};

/// Total: every event is defined in every state. What is not known of a slot changes nothing.
void step(turn_state& state, const turn_event& event, turn_effects& out);

}  // namespace troupe::actors
