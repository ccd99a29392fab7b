#include "collectives/direct/direct_root_machine.hpp"

#include "collectives/partition.hpp"

namespace troupe::collectives {

namespace {

constexpr std::uint32_t own_block_token = 0;

std::uint64_t block_bytes(const collective_task& task) {
  return task.what.signature.count * task.element_bytes();
}

/// The pieces of one chunk at this rank.
std::uint64_t peer_count(const collective_task& task) {
  return task.is_root() ? task.what.size - 1 : 1;
}

/// Whether pieces leave this rank.
bool sends(const collective_task& task) {
  return (task.kind() == operation_kind::scatter) == task.is_root();
}

rank peer_of(const collective_task& task, std::uint64_t piece) {
  if (!task.is_root()) return task.root();
  return task.after(static_cast<std::uint32_t>(piece % peer_count(task)) + 1);
}

std::uint32_t chunk_of(const collective_task& task, std::uint64_t piece) {
  return static_cast<std::uint32_t>(piece / peer_count(task));
}

/// Where the bytes of a piece lie in this rank's buffer.
buffer_view view_of(const collective_task& task, std::uint64_t piece) {
  const partition cut{.chunk_bytes = task.what.chunk_bytes};
  const byte_range chunk = cut.chunk(block_bytes(task), chunk_of(task, piece));
  const std::uint64_t block = task.is_root() ? peer_of(task, piece).value * block_bytes(task) : 0;
  const buffer_view& buffer = sends(task) ? task.buffers.send : task.buffers.receive;
  return buffer.part(block + chunk.offset, chunk.bytes);
}

bool finish_piece(const collective_task& task, direct_root_state& state, rank peer,
                  std::uint32_t step) {
  if (peer.value >= task.what.size || peer == task.what.self) return false;
  if (!task.is_root()) return peer == task.root() && state.pieces.finish(step);
  return state.pieces.finish(step * peer_count(task) + task.distance_after(peer) - 1);
}

}  // namespace

direct_root_state make_direct_root_state(const collective_task& task) {
  direct_root_state state;
  state.piece_count = pieces_of(block_bytes(task), task.what.chunk_bytes) * peer_count(task);
  state.pieces.width = window_width_max;
  state.own_block_placed = !task.is_root() || task.in_place;
  return state;
}

bool on_event(const collective_task& task, direct_root_state& state, const put_finished& event,
              collective_effects&) {
  return sends(task) && finish_piece(task, state, event.peer, event.step);
}

bool on_event(const collective_task& task, direct_root_state& state, const accept_finished& event,
              collective_effects&) {
  return !sends(task) && finish_piece(task, state, event.peer, event.step);
}

bool on_event(const collective_task&, direct_root_state& state, const bytes_finished& event,
              collective_effects&) {
  if (event.token != own_block_token || state.own_block_placed) return false;
  state.own_block_placed = true;
  return true;
}

void start(const collective_task& task, direct_root_state& state, collective_effects& out) {
  if (state.own_block_placed) return;
  const std::uint64_t block = task.what.self.value * block_bytes(task);
  const bool gathers = task.kind() == operation_kind::gather;
  copy effect;
  effect.token = own_block_token;
  effect.source = task.buffers.send.part(gathers ? 0 : block, block_bytes(task));
  effect.target = task.buffers.receive.part(gathers ? block : 0, block_bytes(task));
  out.push_back(effect);
}

void advance(const collective_task& task, direct_root_state& state, collective_effects& out) {
  while (state.pieces.posted < state.piece_count && state.pieces.has_room()) {
    const std::uint64_t piece = state.pieces.posted++;
    const rank peer = peer_of(task, piece);
    if (sends(task))
      out.push_back(put{peer, chunk_of(task, piece), view_of(task, piece)});
    else
      out.push_back(accept{peer, chunk_of(task, piece), view_of(task, piece)});
  }
}

bool is_complete(const collective_task&, const direct_root_state& state) {
  return state.own_block_placed && state.pieces.finished == state.piece_count;
}

}  // namespace troupe::collectives
