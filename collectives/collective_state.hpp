#pragma once
// Contract draft: the machine's author fills this in.
#include <cstddef>
#include <cstdint>

#include "collectives/plan.hpp"
#include "runtime/buffer_view.hpp"

namespace troupe::collectives {

/// Most effects of one step. Derived: ...
inline constexpr std::size_t collective_effects_max = 32;

/// Buffers of one rank in one operation. `send` equals `receive` (or lies in it, per kind) when in
/// place. `scratch` has `plan::scratch_bytes` bytes.
struct collective_buffers {
  buffer_view send;
  buffer_view receive;
  buffer_view scratch;
};

class collective_state;

}  // namespace troupe::collectives
