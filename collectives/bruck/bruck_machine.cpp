#include "collectives/bruck/bruck_machine.hpp"

#include <algorithm>
#include <bit>

#include "collectives/partition.hpp"

namespace troupe::collectives {

namespace {

constexpr std::uint32_t own_block_token = 0;

std::uint64_t block_bytes(const collective_task& task) {
  return task.what.signature.count * task.element_bytes();
}

/// The blocks that move in a round: a run from `first`, and one from block 0 where they wrap.
struct round_blocks {
  std::uint32_t first = 0;
  std::uint32_t before_end = 0;
  std::uint32_t after_wrap = 0;
};

round_blocks blocks_of(const collective_task& task, std::uint32_t round, std::uint32_t first) {
  const std::uint32_t size = task.what.size;
  const std::uint32_t count = std::min(1u << round, size - (1u << round));
  const std::uint32_t before_end = std::min(count, size - first);
  return {first, before_end, count - before_end};
}

/// What this rank sends in a round begins with its own block; what it gets, with its sender's.
round_blocks sent_blocks(const collective_task& task, std::uint32_t round) {
  return blocks_of(task, round, task.what.self.value);
}
round_blocks received_blocks(const collective_task& task, std::uint32_t round) {
  return blocks_of(task, round, task.after(1u << round).value);
}

std::uint64_t chunks_in(const collective_task& task, std::uint32_t blocks) {
  return pieces_of(blocks * block_bytes(task), task.what.chunk_bytes);
}

std::uint64_t step_count_of(const collective_task& task, const round_blocks& blocks) {
  return chunks_in(task, blocks.before_end) + chunks_in(task, blocks.after_wrap);
}

byte_range range_of(const collective_task& task, const round_blocks& blocks, std::uint64_t step) {
  const partition cut{.chunk_bytes = task.what.chunk_bytes};
  const std::uint64_t first_run = chunks_in(task, blocks.before_end);
  const bool wrapped = step >= first_run;
  const std::uint64_t run = (wrapped ? blocks.after_wrap : blocks.before_end) * block_bytes(task);
  const byte_range chunk = cut.chunk(run, wrapped ? step - first_run : step);
  return {(wrapped ? 0 : blocks.first * block_bytes(task)) + chunk.offset, chunk.bytes};
}

/// Pieces of one round go to one peer, of different rounds to different ones, so a step is the
/// number of a piece within its round.
void count_posted(bruck_side& side, std::uint64_t steps_of_round) {
  if (side.step == 0) side.first_piece[side.round] = side.pieces.posted;
  ++side.pieces.posted;
  if (++side.step < steps_of_round) return;
  side.step = 0;
  ++side.round;
}

/// The round in which this rank sends to, or receives from, the one at this distance.
bool finish_piece(bruck_side& side, std::uint32_t distance, std::uint32_t step,
                  std::uint64_t steps_of_round) {
  const auto round = static_cast<std::uint32_t>(std::countr_zero(distance));
  if (step >= steps_of_round) return false;
  return side.pieces.finish(side.first_piece[round] + step);
}

bool is_posted(const bruck_side& side, std::uint32_t distance) {
  if (!std::has_single_bit(distance)) return false;
  const auto round = static_cast<std::uint32_t>(std::countr_zero(distance));
  return round < side.round || (round == side.round && side.step != 0);
}

/// All of an earlier round must be here before what it brought is sent on.
bool may_put(const collective_task& task, const bruck_state& state) {
  const bruck_side& puts = state.puts;
  if (puts.round == state.round_count || !puts.pieces.has_room()) return false;
  if (!state.own_block_placed && puts.round > 0) return false;
  if (puts.round == 0) return true;
  const std::uint32_t before = puts.round - 1;
  const bruck_side& accepts = state.accepts;
  if (accepts.round <= before) return false;
  return accepts.pieces.finished >=
         accepts.first_piece[before] + step_count_of(task, received_blocks(task, before));
}

/// The own block alone may come from the input; more than that lies in the output.
buffer_view put_source(const collective_task& task, const bruck_state& state,
                       const byte_range& range) {
  if (state.puts.round > 0) return task.buffers.receive.part(range.offset, range.bytes);
  return task.buffers.send.part(range.offset - task.what.self.value * block_bytes(task),
                                range.bytes);
}

}  // namespace

bruck_state make_bruck_state(const collective_task& task) {
  bruck_state state;
  state.round_count = static_cast<std::uint32_t>(std::bit_width(task.what.size - 1));
  state.puts.pieces.width = state.accepts.pieces.width = window_width_max;
  state.own_block_placed = task.in_place;
  return state;
}

bool on_event(const collective_task& task, bruck_state& state, const put_finished& event,
              collective_effects&) {
  if (event.peer.value >= task.what.size) return false;
  const std::uint32_t distance = task.distance_before(event.peer);
  if (!is_posted(state.puts, distance)) return false;
  const auto round = static_cast<std::uint32_t>(std::countr_zero(distance));
  return finish_piece(state.puts, distance, event.step,
                      step_count_of(task, sent_blocks(task, round)));
}

bool on_event(const collective_task& task, bruck_state& state, const accept_finished& event,
              collective_effects&) {
  if (event.peer.value >= task.what.size) return false;
  const std::uint32_t distance = task.distance_after(event.peer);
  if (!is_posted(state.accepts, distance)) return false;
  const auto round = static_cast<std::uint32_t>(std::countr_zero(distance));
  return finish_piece(state.accepts, distance, event.step,
                      step_count_of(task, received_blocks(task, round)));
}

bool on_event(const collective_task&, bruck_state& state, const bytes_finished& event,
              collective_effects&) {
  if (event.token != own_block_token || state.own_block_placed) return false;
  state.own_block_placed = true;
  return true;
}

void start(const collective_task& task, bruck_state& state, collective_effects& out) {
  if (state.own_block_placed) return;
  const buffer_view& send = task.buffers.send;
  copy effect;
  effect.token = own_block_token;
  effect.source = send;
  effect.target = task.buffers.receive.part(task.what.self.value * send.bytes, send.bytes);
  out.push_back(effect);
}

void advance(const collective_task& task, bruck_state& state, collective_effects& out) {
  bruck_side& accepts = state.accepts;
  while (accepts.round < state.round_count && accepts.pieces.has_room()) {
    const round_blocks blocks = received_blocks(task, accepts.round);
    const byte_range range = range_of(task, blocks, accepts.step);
    out.push_back(accept{task.after(1u << accepts.round), static_cast<std::uint32_t>(accepts.step),
                         task.buffers.receive.part(range.offset, range.bytes)});
    count_posted(accepts, step_count_of(task, blocks));
  }
  while (may_put(task, state)) {
    bruck_side& puts = state.puts;
    const round_blocks blocks = sent_blocks(task, puts.round);
    const byte_range range = range_of(task, blocks, puts.step);
    out.push_back(put{task.before(1u << puts.round), static_cast<std::uint32_t>(puts.step),
                      put_source(task, state, range)});
    count_posted(puts, step_count_of(task, blocks));
  }
}

bool is_complete(const collective_task&, const bruck_state& state) {
  const auto done = [&](const bruck_side& side) {
    return side.round == state.round_count && side.pieces.finished == side.pieces.posted;
  };
  return state.own_block_placed && done(state.puts) && done(state.accepts);
}

}  // namespace troupe::collectives
