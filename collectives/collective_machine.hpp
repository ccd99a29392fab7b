#pragma once

#include <cstdint>
#include <variant>

#include "collectives/collective_state.hpp"
#include "runtime/buffer_view.hpp"
#include "runtime/inline_list.hpp"
#include "runtime/operation.hpp"
#include "runtime/strong_types.hpp"

namespace troupe::collectives {

// -- events ---------------------------------------------------------------------------------------

struct collective_started {};

/// The peer has what `put` with this step sent it: the source is free again.
struct put_finished {
  rank peer;
  std::uint32_t step = 0;
};

/// What `accept` with this step waited for is in its target.
struct accept_finished {
  rank peer;
  std::uint32_t step = 0;
};

/// The combine or copy with this token is done.
struct bytes_finished {
  std::uint32_t token = 0;
};

using collective_event =
    std::variant<collective_started, put_finished, accept_finished, bytes_finished>;

// -- effects --------------------------------------------------------------------------------------

/// Send `source` to the peer's `accept` of the same step. A step names one transfer between an
/// ordered pair of ranks in one operation.
struct put {
  rank peer;
  std::uint32_t step = 0;
  buffer_view source;
};

/// Receive the peer's `put` of the same step into `target`.
struct accept {
  rank peer;
  std::uint32_t step = 0;
  buffer_view target;
};

/// target[i] = left[i] (op) right[i]. `target` may be `left` or `right`, exactly.
/// `scale_left`, `scale_right`: multiply that operand by the operation's scalar first
/// (premultiplied_sum). `divide`: divide the outcome by the number of contributors (average).
struct combine {
  std::uint32_t token = 0;
  buffer_view target;
  buffer_view left;
  buffer_view right;
  bool scale_left = false;
  bool scale_right = false;
  bool divide = false;
};

/// target = source. `scale`: multiply by the operation's scalar; `divide`: as in `combine`.
struct copy {
  std::uint32_t token = 0;
  buffer_view target;
  buffer_view source;
  bool scale = false;
  bool divide = false;
};

/// The operation is complete on this rank: its output is final, its buffers are free.
struct finish {};

using collective_effect = std::variant<put, accept, combine, copy, finish>;
using collective_effects = inline_list<collective_effect, collective_effects_max>;

/// Whether this rank holds the whole result of a fault-tolerant all-reduce, everywhere or not.
bool holds_result(const collective_state& state);

/// Whether the input of a fault-tolerant all-reduce in place lies in `saved`, and the buffer may be
/// written to.
bool has_saved_input(const collective_state& state);

/// One rank's part in one operation, whatever the algorithm.
///
/// Total: events that fit no state are ignored and counted in `collective_state::ignored`.
/// Cost:  O(1) effects per event, at most `collective_effects_max`; no allocation.
void step(collective_state& state, const collective_event& event, collective_effects& out);

}  // namespace troupe::collectives
