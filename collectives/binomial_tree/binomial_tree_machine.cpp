#include "collectives/binomial_tree/binomial_tree_machine.hpp"

#include <bit>

#include "collectives/partition.hpp"

namespace troupe::collectives {

namespace {

byte_range chunk_of(const collective_task& task, std::uint64_t chunk) {
  const partition cut{.chunk_bytes = task.what.chunk_bytes};
  return cut.chunk(task.what.signature.count * task.element_bytes(), chunk);
}

rank rank_of(const collective_task& task, std::uint32_t number) {
  return rank{(task.what.signature.root + number) % task.what.size};
}

rank parent_of(const collective_task& task, const binomial_tree_state& state) {
  return rank_of(task, state.is_chain ? state.number - 1 : state.number & (state.number - 1));
}

rank child_of(const collective_task& task, const binomial_tree_state& state, std::uint32_t child) {
  const std::uint32_t step = state.is_chain ? 1 : 1u << (state.child_count - 1 - child);
  return rank_of(task, state.number + step);
}

bool is_root(const binomial_tree_state& state) {
  return state.number == 0;
}

/// Children add a bit below the lowest one of their parent, as far as there are ranks.
std::uint32_t child_count_of(std::uint32_t number, std::uint32_t size) {
  const auto bits_below =
      static_cast<std::uint32_t>(number == 0 ? std::bit_width(size - 1) : std::countr_zero(number));
  std::uint32_t count = 0;
  while (count < bits_below && number + (1u << count) < size)
    ++count;
  return count;
}

}  // namespace

binomial_tree_state make_binomial_tree_state(const collective_task& task) {
  binomial_tree_state state;
  state.chunk_count =
      pieces_of(task.what.signature.count * task.element_bytes(), task.what.chunk_bytes);
  state.number = task.distance_before(rank{task.what.signature.root});
  state.is_chain = task.what.path.algorithm == algorithm::chain;
  state.child_count = state.is_chain ? (state.number + 1 < task.what.size ? 1 : 0)
                                     : child_count_of(state.number, task.what.size);
  state.accepts.width = task.what.pipeline_chunk_count;
  state.puts.width = window_width_max;
  return state;
}

bool on_event(const collective_task& task, binomial_tree_state& state, const put_finished& event,
              collective_effects&) {
  for (std::uint32_t child = 0; child < state.child_count; ++child)
    if (child_of(task, state, child) == event.peer)
      return state.puts.finish(std::uint64_t{event.step} * state.child_count + child);
  return false;
}

bool on_event(const collective_task& task, binomial_tree_state& state, const accept_finished& event,
              collective_effects&) {
  if (is_root(state) || event.peer != parent_of(task, state)) return false;
  return state.accepts.finish(event.step);
}

bool on_event(const collective_task&, binomial_tree_state&, const bytes_finished&,
              collective_effects&) {
  return false;
}

void start(const collective_task&, binomial_tree_state&, collective_effects&) {}

void advance(const collective_task& task, binomial_tree_state& state, collective_effects& out) {
  while (!is_root(state) && state.accepts.posted < state.chunk_count && state.accepts.has_room()) {
    const std::uint64_t chunk = state.accepts.posted++;
    const byte_range range = chunk_of(task, chunk);
    out.push_back(accept{parent_of(task, state), static_cast<std::uint32_t>(chunk),
                         task.buffers.receive.part(range.offset, range.bytes)});
  }
  const std::uint64_t here = is_root(state) ? state.chunk_count : state.accepts.finished;
  while (state.puts.posted < here * state.child_count && state.puts.has_room()) {
    const std::uint64_t index = state.puts.posted++;
    const std::uint64_t chunk = index / state.child_count;
    const byte_range range = chunk_of(task, chunk);
    out.push_back(put{child_of(task, state, static_cast<std::uint32_t>(index % state.child_count)),
                      static_cast<std::uint32_t>(chunk),
                      task.buffers.receive.part(range.offset, range.bytes)});
  }
}

bool is_complete(const collective_task&, const binomial_tree_state& state) {
  return state.puts.finished == state.chunk_count * state.child_count &&
         (is_root(state) || state.accepts.finished == state.chunk_count);
}

}  // namespace troupe::collectives
