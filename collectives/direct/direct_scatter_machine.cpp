#include "collectives/direct/direct_scatter_machine.hpp"

#include <algorithm>

#include "collectives/partition.hpp"

namespace troupe::collectives {

namespace {

constexpr std::uint32_t combine_token = 0;

/// Up to this size of a chunk the widest window costs little scratch and hides the most latency.
constexpr std::uint64_t small_chunk_bytes = 64 * 1024;

/// Tokens of stages are odd and wrap after 2^31 pieces, far more than are open at a time.
constexpr std::uint32_t stage_token(std::uint64_t piece) {
  return static_cast<std::uint32_t>(piece << 1 | 1);
}

std::uint32_t distance_of(const collective_task& task, std::uint64_t piece) {
  return static_cast<std::uint32_t>(piece % (task.what.size - 1)) + 1;
}

std::uint32_t step_of(const collective_task& task, std::uint64_t piece) {
  return static_cast<std::uint32_t>(piece / (task.what.size - 1));
}

std::uint64_t block_bytes(const collective_task& task) {
  return task.what.signature.count * task.element_bytes();
}

byte_range chunk_of(const collective_task& task, std::uint64_t piece) {
  const partition cut{.chunk_bytes = task.what.chunk_bytes};
  return cut.chunk(block_bytes(task), step_of(task, piece));
}

/// The part of this rank's input that is block `owner`'s share of `piece`.
buffer_view input_for(const collective_task& task, rank owner, std::uint64_t piece) {
  const byte_range chunk = chunk_of(task, piece);
  return task.buffers.send.part(owner.value * block_bytes(task) + chunk.offset, chunk.bytes);
}

buffer_view slot_of(const collective_task& task, const direct_scatter_state& state,
                    std::uint64_t piece) {
  return task.scratch_chunk(piece % state.slot_count, chunk_of(task, piece).bytes);
}

buffer_view stage_of(const collective_task& task, const direct_scatter_state& state,
                     std::uint64_t piece) {
  return task.scratch_chunk(state.slot_count + piece % state.stage_count,
                            chunk_of(task, piece).bytes);
}

struct piece_name {
  std::uint32_t distance = 0;
  std::uint32_t step = 0;
};

/// False if there is no such piece or it is not open.
bool finish_piece(const collective_task& task, transfer_window& window, const piece_name& name) {
  if (name.distance == 0) return false;
  return window.finish(std::uint64_t{name.step} * (task.what.size - 1) + name.distance - 1);
}

bool is_last_of_chunk(const collective_task& task, std::uint64_t piece) {
  return distance_of(task, piece) == task.what.size - 1;
}

// -- posting --------------------------------------------------------------------------------------

void post_stage(const collective_task& task, direct_scatter_state& state, collective_effects& out) {
  const std::uint64_t piece = state.stages.posted++;
  copy effect;
  effect.token = stage_token(piece);
  effect.source = input_for(task, task.before(distance_of(task, piece)), piece);
  effect.target = stage_of(task, state, piece);
  effect.scale = true;
  out.push_back(effect);
}

void post_put(const collective_task& task, direct_scatter_state& state, collective_effects& out) {
  const std::uint64_t piece = state.puts.posted++;
  const rank to = task.before(distance_of(task, piece));
  out.push_back(put{to, step_of(task, piece),
                    task.scales() ? stage_of(task, state, piece) : input_for(task, to, piece)});
}

void post_accept(const collective_task& task, direct_scatter_state& state,
                 collective_effects& out) {
  const std::uint64_t piece = state.accepts.posted++;
  out.push_back(accept{task.after(distance_of(task, piece)), step_of(task, piece),
                       slot_of(task, state, piece)});
}

/// The partial of this chunk, which came with piece `combined - 1`, and the own input.
void post_last_combine(const collective_task& task, direct_scatter_state& state,
                       collective_effects& out) {
  const std::uint64_t piece = state.combined - 1;
  const byte_range chunk = chunk_of(task, piece);
  combine effect;
  effect.token = combine_token;
  effect.left = slot_of(task, state, piece);
  effect.right = input_for(task, task.what.self, piece);
  effect.target = task.buffers.receive.part(chunk.offset, chunk.bytes);
  effect.scale_right = task.scales();
  effect.divide = task.averages();
  state.combining = true;
  out.push_back(effect);
}

void post_combine(const collective_task& task, direct_scatter_state& state,
                  collective_effects& out) {
  const std::uint64_t piece = state.combined;
  combine effect;
  effect.token = combine_token;
  effect.left = slot_of(task, state, piece - 1);
  effect.right = slot_of(task, state, piece);
  effect.target = effect.right;
  state.combining = true;
  out.push_back(effect);
}

void advance_combine(const collective_task& task, direct_scatter_state& state,
                     collective_effects& out) {
  if (state.combining) return;
  if (!state.own_input_is_next) {
    const std::uint64_t piece = state.combined;
    if (!state.accepts.is_finished(piece)) return;
    if (distance_of(task, piece) != 1) {
      post_combine(task, state, out);
      return;
    }
    // The first arrival of a chunk is its partial as it stands.
    ++state.combined;
    state.own_input_is_next = is_last_of_chunk(task, piece);
    if (!state.own_input_is_next) {
      advance_combine(task, state, out);
      return;
    }
  }
  post_last_combine(task, state, out);
}

}  // namespace

std::uint32_t direct_scatter_width(const plan& what) {
  return what.chunk_bytes <= small_chunk_bytes ? window_width_max : what.pipeline_chunk_count;
}

std::uint64_t direct_scatter_scratch_chunk_count(const plan& what) {
  const std::uint64_t width = direct_scatter_width(what);
  const bool scales = what.signature.op == reduction::premultiplied_sum;
  return std::max<std::uint64_t>(2, width) + (scales ? width : 0);
}

direct_scatter_state make_direct_scatter_state(const collective_task& task) {
  direct_scatter_state state;
  state.chunk_count = pieces_of(block_bytes(task), task.what.chunk_bytes);
  state.piece_count = state.chunk_count * (task.what.size - 1);
  const std::uint32_t width = direct_scatter_width(task.what);
  state.slot_count = std::max(2u, width);
  state.stage_count = task.scales() ? width : 0;
  state.accepts.width = state.slot_count;
  state.puts.width = state.stages.width = width;
  return state;
}

bool on_event(const collective_task& task, direct_scatter_state& state, const put_finished& event,
              collective_effects&) {
  if (event.peer.value >= task.what.size) return false;
  const std::uint32_t distance = task.distance_before(event.peer);
  return finish_piece(task, state.puts, {distance, event.step});
}

bool on_event(const collective_task& task, direct_scatter_state& state,
              const accept_finished& event, collective_effects&) {
  if (event.peer.value >= task.what.size) return false;
  const std::uint32_t distance = task.distance_after(event.peer);
  return finish_piece(task, state.accepts, {distance, event.step});
}

bool on_event(const collective_task& task, direct_scatter_state& state, const bytes_finished& event,
              collective_effects&) {
  if ((event.token & 1u) != 0) {
    const std::uint32_t first = stage_token(state.stages.finished);
    return state.stages.finish(state.stages.finished + ((event.token - first) >> 1));
  }
  if (event.token != combine_token || !state.combining) return false;
  state.combining = false;
  if (state.own_input_is_next) {
    state.own_input_is_next = false;
    state.slots_free = state.combined;
    return true;
  }
  state.slots_free = state.combined;
  ++state.combined;
  state.own_input_is_next = is_last_of_chunk(task, state.combined - 1);
  return true;
}

void start(const collective_task&, direct_scatter_state&, collective_effects&) {}

void advance(const collective_task& task, direct_scatter_state& state, collective_effects& out) {
  while (state.accepts.posted < std::min(state.piece_count, state.slots_free + state.slot_count))
    post_accept(task, state, out);
  while (task.scales() && state.stages.posted < state.piece_count && state.stages.has_room() &&
         state.stages.posted < state.puts.finished + state.stage_count)
    post_stage(task, state, out);
  while (state.puts.posted < state.piece_count && state.puts.has_room() &&
         (!task.scales() || state.stages.finished > state.puts.posted))
    post_put(task, state, out);
  advance_combine(task, state, out);
}

bool is_complete(const collective_task&, const direct_scatter_state& state) {
  return state.puts.finished == state.piece_count && state.slots_free == state.piece_count;
}

}  // namespace troupe::collectives
