#include "collectives/ring/ring_machine.hpp"

#include "collectives/partition.hpp"

namespace troupe::collectives {

namespace {

constexpr std::uint32_t own_block_token = 0xffff'ffffu;

constexpr std::uint32_t combine_token(std::uint64_t piece) {
  return static_cast<std::uint32_t>(piece << 1);
}

constexpr std::uint32_t stage_token(std::uint64_t chunk) {
  return static_cast<std::uint32_t>(chunk << 1 | 1);
}

/// A chunk of a block: its place in a buffer of all blocks and in a buffer of that block alone.
struct chunk_place {
  std::uint64_t in_all = 0;
  std::uint64_t in_block = 0;
  std::uint64_t bytes = 0;
};

struct place_request {
  std::uint32_t block = 0;
  std::uint64_t chunk = 0;
};

chunk_place place_of(const collective_task& task, const place_request& request) {
  const std::uint64_t count = task.what.signature.count;
  const partition cut{
      .element_count = task.kind() == operation_kind::all_reduce ? count : count * task.what.size,
      .element_bytes = task.element_bytes(),
      .block_count = task.what.size,
      .chunk_bytes = task.what.chunk_bytes};
  const byte_range block = cut.block(request.block);
  const byte_range chunk = cut.chunk(block.bytes, request.chunk);
  return {block.offset + chunk.offset, chunk.offset, chunk.bytes};
}

chunk_place sent_place(const collective_task& task, const ring_piece& piece) {
  const std::uint32_t ranks = task.what.size;
  return place_of(
      task,
      {static_cast<std::uint32_t>((task.what.self.value + 2ull * ranks - 1 - piece.time) % ranks),
       piece.chunk});
}

chunk_place received_place(const collective_task& task, const ring_piece& piece) {
  const std::uint32_t ranks = task.what.size;
  return place_of(
      task,
      {static_cast<std::uint32_t>((task.what.self.value + 2ull * ranks - 2 - piece.time) % ranks),
       piece.chunk});
}

bool is_reduced(const ring_state& state, const ring_piece& piece) {
  return piece.time + 1 < state.shape.rank_count;
}

bool is_last_reduction(const ring_state& state, const ring_piece& piece) {
  return piece.time + 2 == state.shape.rank_count;
}

buffer_view slot_of(const collective_task& task, const ring_state& state, std::uint64_t piece,
                    std::uint64_t bytes) {
  return task.scratch_chunk(piece % state.shape.slot_count, bytes);
}

buffer_view stage_of(const collective_task& task, const ring_state& state, std::uint64_t chunk,
                     std::uint64_t bytes) {
  return task.scratch_chunk(state.shape.slot_count + chunk % state.shape.stage_count, bytes);
}

// -- sources and targets --------------------------------------------------------------------------

/// Where this rank's own input, scaled, waits to be sent at the first time.
buffer_view staged_view(const collective_task& task, const ring_state& state,
                        const ring_piece& piece, const chunk_place& place) {
  if (task.kind() == operation_kind::reduce_scatter)
    return stage_of(task, state, piece.chunk, place.bytes);
  return task.buffers.receive.part(place.in_all, place.bytes);
}

buffer_view put_source(const collective_task& task, const ring_state& state, std::uint64_t index,
                       const chunk_place& place) {
  const ring_piece piece = ring_piece_at(state.shape, index);
  if (piece.time == state.shape.first_time) {
    if (task.scales()) return staged_view(task, state, piece, place);
    const bool own_block_only = task.kind() == operation_kind::all_gather;
    return task.buffers.send.part(own_block_only ? place.in_block : place.in_all, place.bytes);
  }
  if (task.kind() == operation_kind::reduce_scatter)
    return slot_of(task, state, index - state.shape.group_chunk_count, place.bytes);
  return task.buffers.receive.part(place.in_all, place.bytes);
}

combine make_combine(const collective_task& task, const ring_state& state, std::uint64_t index) {
  const ring_piece piece = ring_piece_at(state.shape, index);
  const chunk_place place = received_place(task, piece);
  combine out;
  out.token = combine_token(index);
  out.left = slot_of(task, state, index, place.bytes);
  out.right = task.buffers.send.part(place.in_all, place.bytes);
  out.scale_right = task.scales();
  out.divide = task.averages() && is_last_reduction(state, piece);
  if (task.kind() == operation_kind::all_reduce)
    out.target = task.buffers.receive.part(place.in_all, place.bytes);
  else if (is_last_reduction(state, piece))
    out.target = task.buffers.receive.part(place.in_block, place.bytes);
  else
    out.target = out.left;
  return out;
}

// -- what may be posted now -----------------------------------------------------------------------

bool may_stage(const collective_task& task, const ring_state& state) {
  if (!task.scales() || !state.stages.has_room()) return false;
  const std::uint64_t chunk = state.stages.posted;
  if (chunk == state.shape.block_chunk_count) return false;
  if (state.shape.stage_count == 0 || chunk < state.shape.stage_count) return true;
  return state.puts.finished > ring_first_piece_of(state.shape, chunk - state.shape.stage_count);
}

bool may_put(const collective_task& task, const ring_state& state) {
  const std::uint64_t index = state.puts.posted;
  if (index == state.shape.piece_count() || !state.puts.has_room()) return false;
  const ring_piece piece = ring_piece_at(state.shape, index);
  if (piece.time > state.shape.first_time)
    return state.arrivals.finished > index - state.shape.group_chunk_count;
  return !task.scales() || piece.chunk >= state.shape.block_chunk_count ||
         state.stages.finished > piece.chunk;
}

/// An arriving piece needs its target free: the window's slot combined, a partial that was kept in
/// the slot sent on, or, where the last half writes a block of the output, the partial that was
/// sent from there gone.
bool may_accept(const collective_task& task, const ring_state& state) {
  const ring_shape& shape = state.shape;
  const std::uint64_t index = state.accepts.posted;
  if (index == shape.piece_count() || !state.arrivals.has_room()) return false;
  if (task.kind() == operation_kind::reduce_scatter)
    return state.puts.finished + shape.slot_count > index + shape.group_chunk_count;
  if (task.kind() == operation_kind::all_gather) return true;
  if (is_reduced(state, ring_piece_at(shape, index))) return true;
  return state.puts.finished >
         index - std::uint64_t{shape.rank_count - 1} * shape.group_chunk_count;
}

// -- posting --------------------------------------------------------------------------------------

void post_stage(const collective_task& task, ring_state& state, collective_effects& out) {
  const std::uint64_t chunk = state.stages.posted++;
  const ring_piece piece{state.shape.first_time, chunk};
  const chunk_place place = sent_place(task, piece);
  if (place.bytes == 0) {
    state.stages.finish(chunk);
    return;
  }
  copy effect;
  effect.token = stage_token(chunk);
  effect.source = task.buffers.send.part(place.in_all, place.bytes);
  effect.target = staged_view(task, state, piece, place);
  effect.scale = true;
  out.push_back(effect);
}

void post_put(const collective_task& task, ring_state& state, collective_effects& out) {
  const std::uint64_t index = state.puts.posted++;
  const chunk_place place = sent_place(task, ring_piece_at(state.shape, index));
  if (place.bytes == 0)
    state.puts.finish(index);
  else
    out.push_back(put{task.after(1), static_cast<std::uint32_t>(index),
                      put_source(task, state, index, place)});
}

void post_accept(const collective_task& task, ring_state& state, collective_effects& out) {
  const std::uint64_t index = state.accepts.posted++;
  ++state.arrivals.posted;
  const ring_piece piece = ring_piece_at(state.shape, index);
  const chunk_place place = received_place(task, piece);
  if (place.bytes == 0) {
    state.accepts.finish(index);
    state.arrivals.finish(index);
    return;
  }
  const buffer_view target = is_reduced(state, piece)
                                 ? slot_of(task, state, index, place.bytes)
                                 : task.buffers.receive.part(place.in_all, place.bytes);
  out.push_back(accept{task.before(1), static_cast<std::uint32_t>(index), target});
}

}  // namespace

ring_state make_ring_state(const collective_task& task) {
  ring_state state;
  state.shape = ring_shape_of(task.what);
  const std::uint32_t width = task.what.pipeline_chunk_count;
  for (transfer_window* window : {&state.puts, &state.accepts, &state.arrivals, &state.stages})
    window->width = width;
  state.own_block_placed = task.kind() != operation_kind::all_gather || task.in_place;
  return state;
}

bool on_event(const collective_task& task, ring_state& state, const put_finished& event,
              collective_effects&) {
  return event.peer == task.after(1) && state.puts.finish(event.step);
}

bool on_event(const collective_task& task, ring_state& state, const accept_finished& event,
              collective_effects& out) {
  if (event.peer != task.before(1) || !state.accepts.finish(event.step)) return false;
  if (is_reduced(state, ring_piece_at(state.shape, event.step)))
    out.push_back(make_combine(task, state, event.step));
  else
    state.arrivals.finish(event.step);
  return true;
}

bool on_event(const collective_task& task, ring_state& state, const bytes_finished& event,
              collective_effects&) {
  if (event.token == own_block_token) {
    const bool expected = !state.own_block_placed;
    state.own_block_placed = true;
    return expected;
  }
  const std::uint64_t index = event.token >> 1;
  if ((event.token & 1u) != 0) return state.stages.finish(index);
  return task.reduces() && state.accepts.is_finished(index) && state.arrivals.finish(index);
}

void start(const collective_task& task, ring_state& state, collective_effects& out) {
  if (state.own_block_placed) return;
  const buffer_view& send = task.buffers.send;
  copy effect;
  effect.token = own_block_token;
  effect.source = send;
  effect.target = task.buffers.receive.part(task.what.self.value * send.bytes, send.bytes);
  out.push_back(effect);
}

void advance(const collective_task& task, ring_state& state, collective_effects& out) {
  // An empty piece is finished as soon as it is posted, which may let another one go.
  for (bool moved = true; moved;) {
    moved = false;
    for (; may_stage(task, state); moved = true)
      post_stage(task, state, out);
    for (; may_accept(task, state); moved = true)
      post_accept(task, state, out);
    for (; may_put(task, state); moved = true)
      post_put(task, state, out);
  }
}

bool is_complete(const collective_task& task, const ring_state& state) {
  const std::uint64_t pieces = state.shape.piece_count();
  const bool staged = !task.scales() || state.stages.finished == state.shape.block_chunk_count;
  return staged && state.own_block_placed && state.puts.finished == pieces &&
         state.arrivals.finished == pieces;
}

}  // namespace troupe::collectives
