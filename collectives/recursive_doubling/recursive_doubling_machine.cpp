#include "collectives/recursive_doubling/recursive_doubling_machine.hpp"

#include <bit>

#include "collectives/partition.hpp"

namespace troupe::collectives {

namespace {

using state_type = recursive_doubling_state;
using role = recursive_doubling_state::role;
using bytes_work = recursive_doubling_state::bytes_work;

constexpr std::uint32_t scale_token = 0;

constexpr std::uint64_t bit_of(std::uint32_t phase) {
  return std::uint64_t{1} << phase;
}

constexpr bool has(std::uint64_t mask, std::uint32_t phase) {
  return (mask & bit_of(phase)) != 0;
}

// -- who talks to whom ----------------------------------------------------------------------------

std::uint32_t active_number(const collective_task& task, const state_type& state) {
  const std::uint32_t self = task.what.self.value;
  const std::uint32_t pairs = state.shape.folded_pair_count;
  return self < 2 * pairs ? self / 2 : self - pairs;
}

rank rank_of_active(const state_type& state, std::uint32_t number) {
  const std::uint32_t pairs = state.shape.folded_pair_count;
  return rank{number < pairs ? 2 * number : number + pairs};
}

std::uint32_t result_phase(const state_type& state) {
  return state.shape.round_count + 1;
}

std::uint32_t first_phase(const state_type& state) {
  return state.part == role::active_with_folded ? 0 : 1;
}

rank peer_of(const collective_task& task, const state_type& state, std::uint32_t phase) {
  if (phase == 0 || phase == result_phase(state)) return rank{task.what.self.value ^ 1u};
  return rank_of_active(state, active_number(task, state) ^ (1u << (phase - 1)));
}

bool is_left_operand(const collective_task& task, const state_type& state, std::uint32_t phase) {
  return task.what.self < peer_of(task, state, phase);
}

// -- where the bytes are --------------------------------------------------------------------------

byte_range segment_range(const collective_task& task, const state_type& state) {
  const partition cut{.chunk_bytes = task.what.chunk_bytes};
  return cut.chunk(task.what.signature.count * task.element_bytes(), state.segment);
}

buffer_view output(const collective_task& task, const state_type& state) {
  const byte_range range = segment_range(task, state);
  return task.buffers.receive.part(range.offset, range.bytes);
}

/// Own input lies in the output: it is scaled there, or the operation is in place.
bool own_is_in_output(const collective_task& task) {
  return task.in_place || task.scales();
}

buffer_view own_input(const collective_task& task, const state_type& state) {
  const byte_range range = segment_range(task, state);
  const buffer_view& from = own_is_in_output(task) ? task.buffers.receive : task.buffers.send;
  return from.part(range.offset, range.bytes);
}

buffer_view arrival(const collective_task& task, const state_type& state, std::uint32_t phase) {
  return task.scratch_chunk(phase % 2, segment_range(task, state).bytes);
}

/// What this rank knows before the arrival of `phase` is combined.
buffer_view partial(const collective_task& task, const state_type& state, std::uint32_t phase) {
  if (phase == first_phase(state)) return own_input(task, state);
  if (phase == result_phase(state)) return output(task, state);
  return arrival(task, state, phase - 1);
}

// -- posting --------------------------------------------------------------------------------------

std::uint32_t step_of(const state_type& state, std::uint32_t phase) {
  return static_cast<std::uint32_t>(state.segment * state.shape.phase_count() + phase);
}

void post_put(const collective_task& task, state_type& state, std::uint32_t phase,
              collective_effects& out) {
  state.puts_posted |= bit_of(phase);
  const buffer_view source =
      state.part == role::folded ? own_input(task, state) : partial(task, state, phase);
  out.push_back(put{peer_of(task, state, phase), step_of(state, phase), source});
}

void post_accept(const collective_task& task, state_type& state, std::uint32_t phase,
                 collective_effects& out) {
  state.accepts_posted |= bit_of(phase);
  const buffer_view target =
      phase == result_phase(state) ? output(task, state) : arrival(task, state, phase);
  out.push_back(accept{peer_of(task, state, phase), step_of(state, phase), target});
}

void post_combine(const collective_task& task, state_type& state, collective_effects& out) {
  const std::uint32_t phase = state.next_combine;
  const bool last = phase == state.shape.round_count;
  const buffer_view mine = partial(task, state, phase);
  const buffer_view theirs = arrival(task, state, phase);
  const bool left = is_left_operand(task, state, phase);
  combine effect;
  effect.token = step_of(state, phase) + 1;
  effect.target = last ? output(task, state) : theirs;
  effect.left = left ? mine : theirs;
  effect.right = left ? theirs : mine;
  effect.divide = last && task.averages();
  state.working = bytes_work::combining;
  out.push_back(effect);
}

/// The place an arrival lands in held the partial of two phases ago, which was sent and combined in
/// the phase before this one.
bool arrival_is_free(const state_type& state, std::uint32_t phase) {
  if (phase < first_phase(state) + 2) return true;
  return has(state.puts_finished, phase - 1) && state.next_combine > phase - 1;
}

/// The last outcome goes to the output, which the first put may still read from.
bool target_is_free(const collective_task& task, const state_type& state) {
  if (state.next_combine != state.shape.round_count) return true;
  if (!own_is_in_output(task) || first_phase(state) == 0) return true;
  return has(state.puts_finished, 1);
}

void advance_active(const collective_task& task, state_type& state, collective_effects& out) {
  const std::uint32_t rounds = state.shape.round_count;
  for (std::uint32_t phase = first_phase(state); phase <= rounds; ++phase) {
    if (has(state.accepts_posted, phase)) continue;
    if (!arrival_is_free(state, phase)) break;
    post_accept(task, state, phase, out);
  }
  if (!state.scaled) return;
  const std::uint32_t phase = state.next_combine;
  const bool sends = phase != 0 && (phase <= rounds || state.part == role::active_with_folded);
  if (sends && !has(state.puts_posted, phase)) post_put(task, state, phase, out);
  const bool combines = phase <= rounds && state.working == bytes_work::none;
  if (combines && has(state.accepts_finished, phase) && target_is_free(task, state))
    post_combine(task, state, out);
}

void advance_folded(const collective_task& task, state_type& state, collective_effects& out) {
  const std::uint32_t last = result_phase(state);
  if (state.scaled && !has(state.puts_posted, 0)) post_put(task, state, 0, out);
  const bool free = !own_is_in_output(task) || has(state.puts_finished, 0);
  if (free && !has(state.accepts_posted, last)) post_accept(task, state, last, out);
}

bool segment_is_complete(const state_type& state) {
  if (state.puts_posted != state.puts_finished) return false;
  if (state.accepts_posted != state.accepts_finished) return false;
  if (state.part == role::folded) return has(state.accepts_finished, result_phase(state));
  const bool returned = state.part == role::active || has(state.puts_finished, result_phase(state));
  return returned && state.next_combine > state.shape.round_count;
}

void begin_segment(const collective_task& task, state_type& state, collective_effects& out) {
  state.puts_posted = state.puts_finished = 0;
  state.accepts_posted = state.accepts_finished = 0;
  state.next_combine = first_phase(state);
  state.scaled = !task.scales();
  if (state.scaled) return;
  const byte_range range = segment_range(task, state);
  copy effect;
  effect.token = scale_token;
  effect.source = task.buffers.send.part(range.offset, range.bytes);
  effect.target = output(task, state);
  effect.scale = true;
  state.working = bytes_work::scaling;
  out.push_back(effect);
}

/// The phase of a step of the current segment; none of another.
bool in_segment(const state_type& state, std::uint32_t step) {
  return step / state.shape.phase_count() == state.segment;
}

}  // namespace

recursive_doubling_shape recursive_doubling_shape_of(const plan& what) {
  recursive_doubling_shape shape;
  const std::uint32_t active = std::bit_floor(what.size);
  shape.round_count = static_cast<std::uint32_t>(std::countr_zero(active));
  shape.folded_pair_count = what.size - active;
  shape.segment_count =
      pieces_of(what.signature.count * size_of(what.signature.type), what.chunk_bytes);
  return shape;
}

recursive_doubling_state make_recursive_doubling_state(const collective_task& task) {
  state_type state;
  state.shape = recursive_doubling_shape_of(task.what);
  const std::uint32_t self = task.what.self.value;
  if (self < 2 * state.shape.folded_pair_count)
    state.part = self % 2 == 0 ? role::active_with_folded : role::folded;
  return state;
}

bool on_event(const collective_task& task, recursive_doubling_state& state,
              const put_finished& event, collective_effects&) {
  const std::uint32_t phase = event.step % state.shape.phase_count();
  const bool open = has(state.puts_posted & ~state.puts_finished, phase);
  if (!in_segment(state, event.step) || !open) return false;
  if (event.peer != peer_of(task, state, phase)) return false;
  state.puts_finished |= bit_of(phase);
  return true;
}

bool on_event(const collective_task& task, recursive_doubling_state& state,
              const accept_finished& event, collective_effects&) {
  const std::uint32_t phase = event.step % state.shape.phase_count();
  const bool open = has(state.accepts_posted & ~state.accepts_finished, phase);
  if (!in_segment(state, event.step) || !open) return false;
  if (event.peer != peer_of(task, state, phase)) return false;
  state.accepts_finished |= bit_of(phase);
  return true;
}

bool on_event(const collective_task&, recursive_doubling_state& state, const bytes_finished& event,
              collective_effects&) {
  if (state.working == bytes_work::scaling && event.token == scale_token) {
    state.scaled = true;
    state.working = bytes_work::none;
    return true;
  }
  const bool expected = state.working == bytes_work::combining &&
                        event.token == step_of(state, state.next_combine) + 1;
  if (!expected) return false;
  ++state.next_combine;
  state.working = bytes_work::none;
  return true;
}

void start(const collective_task& task, recursive_doubling_state& state, collective_effects& out) {
  begin_segment(task, state, out);
}

void advance(const collective_task& task, recursive_doubling_state& state,
             collective_effects& out) {
  if (segment_is_complete(state)) {
    ++state.segment;
    if (is_complete(task, state)) return;
    begin_segment(task, state, out);
  }
  if (state.part == role::folded)
    advance_folded(task, state, out);
  else
    advance_active(task, state, out);
}

bool is_complete(const collective_task&, const recursive_doubling_state& state) {
  return state.segment == state.shape.segment_count;
}

}  // namespace troupe::collectives
