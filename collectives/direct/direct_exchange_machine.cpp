#include "collectives/direct/direct_exchange_machine.hpp"

#include <algorithm>

#include "collectives/partition.hpp"

namespace troupe::collectives {

namespace {

constexpr std::uint32_t own_block_token = 0;

enum class direction : std::uint8_t { puts, accepts };

byte_range block_of(const collective_task& task, rank peer, direction way) {
  if (task.kind() == operation_kind::all_to_all_v) {
    const peer_block& block = task.buffers.blocks[peer.value];
    if (way == direction::puts) return {block.send_offset, block.send_bytes};
    return {block.receive_offset, block.receive_bytes};
  }
  const std::uint64_t bytes = task.what.signature.count * task.element_bytes();
  return {peer.value * bytes, bytes};
}

rank peer_at(const collective_task& task, std::uint32_t distance, direction way) {
  return way == direction::puts ? task.after(distance) : task.before(distance);
}

/// Both ends of a pair know its bytes, so they cut it alike; step numbers stay below 2^31.
std::uint64_t chunk_bytes_of(const collective_task& task, std::uint64_t block_bytes) {
  const std::uint64_t element = task.element_bytes();
  const std::uint64_t least = pieces_of(pieces_of(block_bytes, step_count_max), element) * element;
  return std::max(task.what.chunk_bytes, least);
}

std::uint64_t chunk_count_of(const collective_task& task, std::uint64_t block_bytes) {
  return std::max<std::uint64_t>(1, pieces_of(block_bytes, chunk_bytes_of(task, block_bytes)));
}

/// What the next piece moves; the cursor goes on to the one behind it.
struct posted_piece {
  rank peer;
  std::uint32_t step = 0;
  byte_range range;
};

posted_piece take_piece(const collective_task& task, exchange_side& side, direction way) {
  const rank peer = peer_at(task, side.distance, way);
  const byte_range block = block_of(task, peer, way);
  if (side.chunk == 0) side.first_piece[side.distance % window_width_max] = side.pieces.posted;
  const partition cut{.chunk_bytes = chunk_bytes_of(task, block.bytes)};
  const byte_range chunk = cut.chunk(block.bytes, side.chunk);
  const posted_piece out{
      peer, static_cast<std::uint32_t>(side.chunk), {block.offset + chunk.offset, chunk.bytes}};
  ++side.pieces.posted;
  if (++side.chunk == chunk_count_of(task, block.bytes)) {
    side.chunk = 0;
    ++side.distance;
  }
  return out;
}

bool may_post(const collective_task& task, const exchange_side& side) {
  return side.distance < task.what.size && side.pieces.has_room();
}

/// False if no piece of that peer and step is open.
bool finish_piece(const collective_task& task, exchange_side& side, const put_finished& end,
                  direction way) {
  if (end.peer.value >= task.what.size || end.peer == task.what.self) return false;
  const std::uint32_t distance =
      way == direction::puts ? task.distance_after(end.peer) : task.distance_before(end.peer);
  // A distance that is not posted yet, or so old that its place was taken by another.
  if (distance > side.distance || side.distance - distance > window_width_max) return false;
  if (side.distance - distance == window_width_max && side.chunk != 0) return false;
  if (distance == side.distance && side.chunk == 0) return false;
  if (end.step >= chunk_count_of(task, block_of(task, end.peer, way).bytes)) return false;
  return side.pieces.finish(side.first_piece[distance % window_width_max] + end.step);
}

bool is_done(const collective_task& task, const exchange_side& side) {
  return side.distance >= task.what.size && side.pieces.finished == side.pieces.posted;
}

}  // namespace

direct_exchange_state make_direct_exchange_state(const collective_task& task) {
  direct_exchange_state state;
  state.puts.pieces.width = state.accepts.pieces.width = window_width_max;
  state.own_block_placed = block_of(task, task.what.self, direction::puts).bytes == 0;
  return state;
}

bool on_event(const collective_task& task, direct_exchange_state& state, const put_finished& event,
              collective_effects&) {
  return finish_piece(task, state.puts, event, direction::puts);
}

bool on_event(const collective_task& task, direct_exchange_state& state,
              const accept_finished& event, collective_effects&) {
  return finish_piece(task, state.accepts, {event.peer, event.step}, direction::accepts);
}

bool on_event(const collective_task&, direct_exchange_state& state, const bytes_finished& event,
              collective_effects&) {
  if (event.token != own_block_token || state.own_block_placed) return false;
  state.own_block_placed = true;
  return true;
}

void start(const collective_task& task, direct_exchange_state& state, collective_effects& out) {
  if (state.own_block_placed) return;
  const byte_range from = block_of(task, task.what.self, direction::puts);
  const byte_range to = block_of(task, task.what.self, direction::accepts);
  copy effect;
  effect.token = own_block_token;
  effect.source = task.buffers.send.part(from.offset, from.bytes);
  effect.target = task.buffers.receive.part(to.offset, to.bytes);
  out.push_back(effect);
}

void advance(const collective_task& task, direct_exchange_state& state, collective_effects& out) {
  while (may_post(task, state.accepts)) {
    const posted_piece one = take_piece(task, state.accepts, direction::accepts);
    out.push_back(
        accept{one.peer, one.step, task.buffers.receive.part(one.range.offset, one.range.bytes)});
  }
  while (may_post(task, state.puts)) {
    const posted_piece one = take_piece(task, state.puts, direction::puts);
    out.push_back(
        put{one.peer, one.step, task.buffers.send.part(one.range.offset, one.range.bytes)});
  }
}

bool is_complete(const collective_task& task, const direct_exchange_state& state) {
  return state.own_block_placed && is_done(task, state.puts) && is_done(task, state.accepts);
}

}  // namespace troupe::collectives
