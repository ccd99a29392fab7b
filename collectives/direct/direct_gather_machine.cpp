#include "collectives/direct/direct_gather_machine.hpp"

#include "collectives/partition.hpp"

namespace troupe::collectives {

namespace {

constexpr std::uint32_t own_block_token = 0;

std::uint32_t distance_of(const direct_gather_state& state, std::uint64_t piece) {
  return static_cast<std::uint32_t>(piece / state.chunk_count) + 1;
}

std::uint32_t step_of(const direct_gather_state& state, std::uint64_t piece) {
  return static_cast<std::uint32_t>(piece % state.chunk_count);
}

byte_range chunk_of(const collective_task& task, const direct_gather_state& state,
                    std::uint64_t piece) {
  const partition cut{.chunk_bytes = task.what.chunk_bytes};
  return cut.chunk(task.buffers.send.bytes, step_of(state, piece));
}

struct piece_name {
  std::uint32_t distance = 0;
  std::uint32_t step = 0;
};

/// False if there is no such piece or it is not open.
bool finish_piece(const direct_gather_state& state, transfer_window& window,
                  const piece_name& name) {
  if (name.distance == 0 || name.step >= state.chunk_count) return false;
  return window.finish((name.distance - 1) * state.chunk_count + name.step);
}

void post_accept(const collective_task& task, direct_gather_state& state, collective_effects& out) {
  const std::uint64_t piece = state.accepts.posted++;
  const rank from = task.before(distance_of(state, piece));
  const byte_range chunk = chunk_of(task, state, piece);
  const std::uint64_t block_offset = from.value * task.buffers.send.bytes;
  out.push_back(accept{from, step_of(state, piece),
                       task.buffers.receive.part(block_offset + chunk.offset, chunk.bytes)});
}

void post_put(const collective_task& task, direct_gather_state& state, collective_effects& out) {
  const std::uint64_t piece = state.puts.posted++;
  const byte_range chunk = chunk_of(task, state, piece);
  out.push_back(put{task.after(distance_of(state, piece)), step_of(state, piece),
                    task.buffers.send.part(chunk.offset, chunk.bytes)});
}

}  // namespace

direct_gather_state make_direct_gather_state(const collective_task& task) {
  direct_gather_state state;
  state.chunk_count =
      pieces_of(task.what.signature.count * task.element_bytes(), task.what.chunk_bytes);
  state.piece_count = state.chunk_count * (task.what.size - 1);
  state.puts.width = state.accepts.width = window_width_max;
  state.own_block_placed = task.in_place;
  return state;
}

bool on_event(const collective_task& task, direct_gather_state& state, const put_finished& event,
              collective_effects&) {
  if (event.peer.value >= task.what.size) return false;
  const std::uint32_t distance = task.distance_after(event.peer);
  return finish_piece(state, state.puts, {distance, event.step});
}

bool on_event(const collective_task& task, direct_gather_state& state, const accept_finished& event,
              collective_effects&) {
  if (event.peer.value >= task.what.size) return false;
  const std::uint32_t distance = task.distance_before(event.peer);
  return finish_piece(state, state.accepts, {distance, event.step});
}

bool on_event(const collective_task&, direct_gather_state& state, const bytes_finished& event,
              collective_effects&) {
  if (event.token != own_block_token || state.own_block_placed) return false;
  state.own_block_placed = true;
  return true;
}

void start(const collective_task& task, direct_gather_state& state, collective_effects& out) {
  if (state.own_block_placed) return;
  const buffer_view& send = task.buffers.send;
  copy effect;
  effect.token = own_block_token;
  effect.source = send;
  effect.target = task.buffers.receive.part(task.what.self.value * send.bytes, send.bytes);
  out.push_back(effect);
}

void advance(const collective_task& task, direct_gather_state& state, collective_effects& out) {
  while (state.accepts.posted < state.piece_count && state.accepts.has_room())
    post_accept(task, state, out);
  while (state.puts.posted < state.piece_count && state.puts.has_room())
    post_put(task, state, out);
}

bool is_complete(const collective_task&, const direct_gather_state& state) {
  return state.own_block_placed && state.puts.finished == state.piece_count &&
         state.accepts.finished == state.piece_count;
}

}  // namespace troupe::collectives
