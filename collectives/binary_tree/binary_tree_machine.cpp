#include "collectives/binary_tree/binary_tree_machine.hpp"

#include <optional>

#include "collectives/partition.hpp"

namespace troupe::collectives {

namespace {

constexpr std::uint32_t own_block_token = 0;

std::uint64_t block_bytes(const collective_task& task) {
  return task.what.signature.count * task.element_bytes();
}

std::uint64_t chunks_in(const collective_task& task, const rank_run& run) {
  return pieces_of(run.count * block_bytes(task), task.what.chunk_bytes);
}

/// Where chunk `chunk` of a run's blocks lies in the output.
buffer_view chunk_of(const collective_task& task, const rank_run& run, std::uint64_t chunk) {
  const partition cut{.chunk_bytes = task.what.chunk_bytes};
  const byte_range range = cut.chunk(run.count * block_bytes(task), chunk);
  return task.buffers.receive.part(run.first * block_bytes(task) + range.offset, range.bytes);
}

buffer_view output_chunk(const collective_task& task, std::uint64_t chunk) {
  return chunk_of(task, {0, task.what.size}, chunk);
}

bool is_root(const binary_tree_state& state) {
  return state.own.first == 0;
}

std::uint64_t arrival_count(const collective_task& task, const binary_tree_state& state) {
  std::uint64_t count = 0;
  for (std::uint32_t child = 0; child < state.child_count; ++child)
    count += chunks_in(task, state.children[child]);
  return count;
}

/// The blocks of this rank's subtree are in the output.
bool has_subtree(const collective_task& task, const binary_tree_state& state) {
  return state.own_block_placed && state.arrivals.finished == arrival_count(task, state);
}

bool has_sent_subtree(const collective_task& task, const binary_tree_state& state) {
  return is_root(state) || state.ups.finished == chunks_in(task, state.own);
}

/// Chunks of the whole output that are here, from its begin.
std::uint64_t chunks_here(const collective_task& task, const binary_tree_state& state) {
  if (!is_root(state)) return state.accepts.finished;
  return has_subtree(task, state) ? state.chunk_count : 0;
}

std::optional<std::uint32_t> child_named(const binary_tree_state& state, rank peer) {
  for (std::uint32_t child = 0; child < state.child_count; ++child)
    if (state.children[child].first == peer.value) return child;
  return std::nullopt;
}

bool is_parent(const binary_tree_state& state, rank peer) {
  return !is_root(state) && state.parent == peer.value;
}

/// What goes down is numbered behind all that can go up, so that a step names one transfer.
std::uint32_t down_step(const binary_tree_state& state, std::uint64_t chunk) {
  return static_cast<std::uint32_t>(state.chunk_count + chunk);
}

void accept_from_children(const collective_task& task, binary_tree_state& state,
                          collective_effects& out) {
  const std::uint64_t count = arrival_count(task, state);
  while (state.arrivals.posted < count && state.arrivals.has_room()) {
    std::uint64_t chunk = state.arrivals.posted++;
    const std::uint64_t of_first = chunks_in(task, state.children[0]);
    const std::uint32_t child = chunk < of_first ? 0 : 1;
    if (child == 1) chunk -= of_first;
    const rank_run& run = state.children[child];
    out.push_back(
        accept{rank{run.first}, static_cast<std::uint32_t>(chunk), chunk_of(task, run, chunk)});
  }
}

void put_to_parent(const collective_task& task, binary_tree_state& state, collective_effects& out) {
  if (is_root(state) || !has_subtree(task, state)) return;
  while (state.ups.posted < chunks_in(task, state.own) && state.ups.has_room()) {
    const std::uint64_t chunk = state.ups.posted++;
    out.push_back(put{rank{state.parent}, static_cast<std::uint32_t>(chunk),
                      chunk_of(task, state.own, chunk)});
  }
}

/// Only once the subtree is sent: the whole output overwrites it, with the same bytes.
void accept_from_parent(const collective_task& task, binary_tree_state& state,
                        collective_effects& out) {
  if (is_root(state) || !has_sent_subtree(task, state)) return;
  while (state.accepts.posted < state.chunk_count && state.accepts.has_room()) {
    const std::uint64_t chunk = state.accepts.posted++;
    out.push_back(accept{rank{state.parent}, down_step(state, chunk), output_chunk(task, chunk)});
  }
}

void put_to_children(const collective_task& task, binary_tree_state& state,
                     collective_effects& out) {
  const std::uint64_t ready = chunks_here(task, state) * state.child_count;
  while (state.downs.posted < ready && state.downs.has_room()) {
    const std::uint64_t index = state.downs.posted++;
    const std::uint64_t chunk = index / state.child_count;
    out.push_back(put{rank{state.children[index % state.child_count].first},
                      down_step(state, chunk), output_chunk(task, chunk)});
  }
}

}  // namespace

binary_tree_state make_binary_tree_state(const collective_task& task) {
  binary_tree_state state;
  state.own = {0, task.what.size};
  state.parent = task.what.self.value;
  for (;;) {
    const rank_run left{state.own.first + 1, state.own.count / 2};
    const rank_run right{left.first + left.count, state.own.count - 1 - left.count};
    if (state.own.first == task.what.self.value) {
      state.children = {left, right};
      state.child_count = (left.count != 0 ? 1 : 0) + (right.count != 0 ? 1 : 0);
      break;
    }
    state.parent = state.own.first;
    state.own = task.what.self.value < right.first ? left : right;
  }
  state.chunk_count = chunks_in(task, {0, task.what.size});
  for (auto* window : {&state.arrivals, &state.ups, &state.accepts, &state.downs})
    window->width = window_width_max;
  state.own_block_placed = task.in_place;
  return state;
}

bool on_event(const collective_task&, binary_tree_state& state, const put_finished& event,
              collective_effects&) {
  if (is_parent(state, event.peer)) return state.ups.finish(event.step);
  const auto child = child_named(state, event.peer);
  if (!child || event.step < state.chunk_count) return false;
  return state.downs.finish((event.step - state.chunk_count) * state.child_count + *child);
}

bool on_event(const collective_task& task, binary_tree_state& state, const accept_finished& event,
              collective_effects&) {
  if (is_parent(state, event.peer)) {
    if (event.step < state.chunk_count) return false;
    return state.accepts.finish(event.step - state.chunk_count);
  }
  const auto child = child_named(state, event.peer);
  if (!child || event.step >= chunks_in(task, state.children[*child])) return false;
  return state.arrivals.finish(event.step + (*child == 1 ? chunks_in(task, state.children[0]) : 0));
}

bool on_event(const collective_task&, binary_tree_state& state, const bytes_finished& event,
              collective_effects&) {
  if (event.token != own_block_token || state.own_block_placed) return false;
  state.own_block_placed = true;
  return true;
}

void start(const collective_task& task, binary_tree_state& state, collective_effects& out) {
  if (state.own_block_placed) return;
  const buffer_view& send = task.buffers.send;
  copy effect;
  effect.token = own_block_token;
  effect.source = send;
  effect.target = task.buffers.receive.part(task.what.self.value * send.bytes, send.bytes);
  out.push_back(effect);
}

void advance(const collective_task& task, binary_tree_state& state, collective_effects& out) {
  accept_from_children(task, state, out);
  put_to_parent(task, state, out);
  accept_from_parent(task, state, out);
  put_to_children(task, state, out);
}

bool is_complete(const collective_task& task, const binary_tree_state& state) {
  return has_subtree(task, state) && has_sent_subtree(task, state) &&
         (is_root(state) || state.accepts.finished == state.chunk_count) &&
         state.downs.finished == state.chunk_count * state.child_count;
}

}  // namespace troupe::collectives
