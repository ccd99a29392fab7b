#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>

#include "collectives/binary_tree/binary_tree_state.hpp"
#include "collectives/binomial_tree/binomial_tree_state.hpp"
#include "collectives/bruck/bruck_state.hpp"
#include "collectives/collective_task.hpp"
#include "collectives/direct/direct_exchange_state.hpp"
#include "collectives/direct/direct_gather_state.hpp"
#include "collectives/direct/direct_root_state.hpp"
#include "collectives/direct/direct_scatter_state.hpp"
#include "collectives/dissemination/dissemination_state.hpp"
#include "collectives/ftar/ftar_state.hpp"
#include "collectives/local/local_state.hpp"
#include "collectives/plan.hpp"
#include "collectives/point_to_point/point_to_point_state.hpp"
#include "collectives/recursive_doubling/recursive_doubling_state.hpp"
#include "collectives/recursive_halving/recursive_halving_state.hpp"
#include "collectives/reduce_broadcast/reduce_broadcast_state.hpp"
#include "collectives/reduce_tree/reduce_tree_state.hpp"
#include "collectives/ring/ring_state.hpp"
#include "collectives/transfer_window.hpp"
#include "runtime/result.hpp"

namespace troupe::collectives {

/// Most effects of one step. Derived: no more than a full window of accepts, of puts and of staging
/// copies, one combine, the copy of the own block, and `finish`.
inline constexpr std::size_t collective_effects_max = 3 * window_width_max + 3;

/// What an algorithm remembers.
using algorithm_state =
    std::variant<local_state, ring_state, recursive_doubling_state, direct_gather_state,
                 direct_scatter_state, binomial_tree_state, dissemination_state,
                 point_to_point_state, direct_root_state, direct_exchange_state, reduce_tree_state,
                 recursive_halving_state, bruck_state, binary_tree_state, reduce_broadcast_state,
                 ftar_state>;

enum class collective_phase : std::uint8_t { planned, running, finished };

/// One rank's part in one operation: a value that owns nothing, to be assigned anew for the next
/// operation. Its only pointer is to the blocks of an all_to_all_v.
struct collective_state {
  collective_task task;
  algorithm_state part;
  collective_phase phase = collective_phase::planned;
  std::uint64_t ignored = 0;  ///< events that fitted no state
};

/// The state before `collective_started`.
/// Errors: bad_argument if a buffer has not the bytes that the plan's signature says, scratch is
///         too small, `saved` has another size than an input in place, input and output overlap
///         other than in place, or the blocks of an all_to_all_v are not one for each rank, leave a
///         buffer, or differ for this rank itself.
result<collective_state> make_state(const plan& what, const collective_buffers& buffers);

}  // namespace troupe::collectives
