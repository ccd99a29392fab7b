#include "collectives/reduce_tree/reduce_tree_machine.hpp"

#include <algorithm>
#include <bit>

#include "collectives/partition.hpp"

namespace troupe::collectives {

namespace {

constexpr std::uint32_t combine_token = 0;

/// Tokens of stages are odd; step numbers are below 2^31.
constexpr std::uint32_t stage_token(std::uint64_t chunk) {
  return static_cast<std::uint32_t>(chunk << 1 | 1);
}

std::uint64_t chunk_count_of(const plan& what) {
  return pieces_of(what.signature.count * size_of(what.signature.type), what.chunk_bytes);
}

byte_range range_of(const collective_task& task, std::uint64_t chunk) {
  const partition cut{.chunk_bytes = task.what.chunk_bytes};
  return cut.chunk(task.what.signature.count * task.element_bytes(), chunk);
}

buffer_view own_input(const collective_task& task, std::uint64_t chunk) {
  const byte_range range = range_of(task, chunk);
  return task.buffers.send.part(range.offset, range.bytes);
}

bool is_leaf(const reduce_tree_state& state) {
  return state.shape.child_count == 0;
}

std::uint64_t chunk_of(const reduce_tree_state& state, std::uint64_t arrival) {
  return arrival / state.shape.child_count;
}

std::uint32_t child_of(const reduce_tree_state& state, std::uint64_t arrival) {
  return static_cast<std::uint32_t>(arrival % state.shape.child_count);
}

buffer_view slot_of(const collective_task& task, const reduce_tree_state& state,
                    std::uint64_t arrival) {
  return task.scratch_chunk(arrival % state.slot_count,
                            range_of(task, chunk_of(state, arrival)).bytes);
}

buffer_view stage_of(const collective_task& task, const reduce_tree_state& state,
                     std::uint64_t chunk) {
  return task.scratch_chunk(chunk % state.slot_count, range_of(task, chunk).bytes);
}

/// Slots of arrivals below this one may be used again: the last combined one holds a partial, and
/// the last one of a chunk holds it until it is sent.
std::uint64_t free_below(const collective_task& task, const reduce_tree_state& state) {
  const std::uint64_t combined = state.combined;
  if (task.is_root()) return combined % state.shape.child_count == 0 ? combined : combined - 1;
  const std::uint64_t held = (state.puts.finished + 1) * state.shape.child_count - 1;
  return std::min(held, combined == 0 ? 0 : combined - 1);
}

// -- posting --------------------------------------------------------------------------------------

void post_accept(const collective_task& task, reduce_tree_state& state, collective_effects& out) {
  const std::uint64_t arrival = state.accepts.posted++;
  out.push_back(accept{state.shape.child(child_of(state, arrival)),
                       static_cast<std::uint32_t>(chunk_of(state, arrival)),
                       slot_of(task, state, arrival)});
}

void post_combine(const collective_task& task, reduce_tree_state& state, collective_effects& out) {
  const std::uint64_t arrival = state.combined;
  const std::uint64_t chunk = chunk_of(state, arrival);
  const std::uint32_t child = child_of(state, arrival);
  const bool first = child == 0;
  const bool last = child + 1 == state.shape.child_count;
  const buffer_view mine = first ? own_input(task, chunk) : slot_of(task, state, arrival - 1);
  const buffer_view theirs = slot_of(task, state, arrival);
  const bool theirs_is_left = state.shape.is_left(child);
  combine effect;
  effect.token = combine_token;
  effect.left = theirs_is_left ? theirs : mine;
  effect.right = theirs_is_left ? mine : theirs;
  effect.scale_left = first && task.scales() && !theirs_is_left;
  effect.scale_right = first && task.scales() && theirs_is_left;
  effect.target = theirs;
  if (last && task.is_root()) {
    const byte_range range = range_of(task, chunk);
    effect.target = task.buffers.receive.part(range.offset, range.bytes);
    effect.divide = task.averages();
  }
  state.combining = true;
  out.push_back(effect);
}

void post_stage(const collective_task& task, reduce_tree_state& state, collective_effects& out) {
  const std::uint64_t chunk = state.stages.posted++;
  copy effect;
  effect.token = stage_token(chunk);
  effect.source = own_input(task, chunk);
  effect.target = stage_of(task, state, chunk);
  effect.scale = true;
  out.push_back(effect);
}

/// A chunk's outcome on its way to the parent.
buffer_view outcome_of(const collective_task& task, const reduce_tree_state& state,
                       std::uint64_t chunk) {
  if (!is_leaf(state)) return slot_of(task, state, (chunk + 1) * state.shape.child_count - 1);
  return task.scales() ? stage_of(task, state, chunk) : own_input(task, chunk);
}

bool may_put(const collective_task& task, const reduce_tree_state& state) {
  const std::uint64_t chunk = state.puts.posted;
  if (task.is_root() || chunk == state.chunk_count || !state.puts.has_room()) return false;
  if (!is_leaf(state)) return state.combined >= (chunk + 1) * state.shape.child_count;
  return !task.scales() || state.stages.finished > chunk;
}

bool may_stage(const collective_task& task, const reduce_tree_state& state) {
  return is_leaf(state) && task.scales() && state.stages.posted < state.chunk_count &&
         state.stages.has_room() && state.stages.posted < state.puts.finished + state.slot_count;
}

/// No more than ever arrive at one rank, and as many as the window may hold open.
std::uint32_t slot_count_of(const plan& what) {
  constexpr std::uint64_t small_chunk_bytes = 64 * 1024;
  std::uint32_t width = window_width_max;
  if (what.chunk_bytes > small_chunk_bytes) width = std::min(width, 2 * what.pipeline_chunk_count);
  const bool is_chain = what.path.algorithm == algorithm::chain;
  const std::uint64_t children = is_chain ? 1 : std::bit_width(what.size);
  const std::uint64_t arrivals = chunk_count_of(what) * children;
  return std::max(2u, static_cast<std::uint32_t>(std::min<std::uint64_t>(width, arrivals)));
}

}  // namespace

std::uint64_t reduce_tree_scratch_chunk_count(const plan& what) {
  return slot_count_of(what);
}

reduce_tree_state make_reduce_tree_state(const collective_task& task) {
  reduce_tree_state state;
  state.shape = reduce_tree_shape_of(task.what);
  state.chunk_count = chunk_count_of(task.what);
  state.arrival_count = state.chunk_count * state.shape.child_count;
  state.slot_count = slot_count_of(task.what);
  state.accepts.width = state.puts.width = state.stages.width = state.slot_count;
  return state;
}

bool on_event(const collective_task& task, reduce_tree_state& state, const put_finished& event,
              collective_effects&) {
  if (task.is_root() || event.peer != state.shape.parent) return false;
  return state.puts.finish(event.step);
}

bool on_event(const collective_task&, reduce_tree_state& state, const accept_finished& event,
              collective_effects&) {
  const std::uint32_t children = state.shape.child_count;
  for (std::uint32_t child = 0; child < children; ++child)
    if (state.shape.child(child) == event.peer)
      return state.accepts.finish(std::uint64_t{event.step} * children + child);
  return false;
}

bool on_event(const collective_task&, reduce_tree_state& state, const bytes_finished& event,
              collective_effects&) {
  if ((event.token & 1u) != 0) return state.stages.finish(event.token >> 1);
  if (event.token != combine_token || !state.combining) return false;
  state.combining = false;
  ++state.combined;
  return true;
}

void start(const collective_task&, reduce_tree_state&, collective_effects&) {}

void advance(const collective_task& task, reduce_tree_state& state, collective_effects& out) {
  if (!is_leaf(state)) {
    const std::uint64_t end =
        std::min(state.arrival_count, free_below(task, state) + state.slot_count);
    while (state.accepts.posted < end && state.accepts.has_room())
      post_accept(task, state, out);
    if (!state.combining && state.accepts.is_finished(state.combined))
      post_combine(task, state, out);
  }
  while (may_stage(task, state))
    post_stage(task, state, out);
  while (may_put(task, state)) {
    const std::uint64_t chunk = state.puts.posted++;
    out.push_back(
        put{state.shape.parent, static_cast<std::uint32_t>(chunk), outcome_of(task, state, chunk)});
  }
}

bool is_complete(const collective_task& task, const reduce_tree_state& state) {
  if (state.combined != state.arrival_count) return false;
  return task.is_root() || state.puts.finished == state.chunk_count;
}

}  // namespace troupe::collectives
