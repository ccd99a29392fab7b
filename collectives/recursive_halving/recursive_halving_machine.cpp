#include "collectives/recursive_halving/recursive_halving_machine.hpp"

#include <bit>

#include "collectives/partition.hpp"

namespace troupe::collectives {

namespace {

using state_type = recursive_halving_state;
using role = recursive_halving_state::role;
using bytes_work = recursive_halving_state::bytes_work;

constexpr std::uint32_t scale_token = 0;
constexpr std::uint32_t fold_phase = 0;

constexpr std::uint64_t bit_of(std::uint32_t phase) {
  return std::uint64_t{1} << phase;
}

constexpr bool has(std::uint64_t mask, std::uint32_t phase) {
  return (mask & bit_of(phase)) != 0;
}

// -- phases ---------------------------------------------------------------------------------------

std::uint32_t result_phase(const state_type& state) {
  return 2 * state.round_count + 1;
}

bool halves(const state_type& state, std::uint32_t phase) {
  return phase >= 1 && phase <= state.round_count;
}

bool doubles(const state_type& state, std::uint32_t phase) {
  return phase > state.round_count && phase < result_phase(state);
}

/// The round of a phase that halves or doubles.
std::uint32_t round_of(const state_type& state, std::uint32_t phase) {
  return halves(state, phase) ? phase - 1 : 2 * state.round_count - phase;
}

std::uint32_t first_phase(const state_type& state) {
  return state.part == role::active_with_folded ? fold_phase : 1;
}

rank rank_of_active(const state_type& state, std::uint32_t number) {
  const std::uint32_t pairs = state.folded_pair_count;
  return rank{number < pairs ? 2 * number : number + pairs};
}

rank peer_of(const collective_task& task, const state_type& state, std::uint32_t phase) {
  if (phase == fold_phase || phase == result_phase(state)) return rank{task.what.self.value ^ 1u};
  return rank_of_active(state, state.number ^ (1u << round_of(state, phase)));
}

std::uint32_t step_of(const state_type& state, std::uint32_t phase) {
  return static_cast<std::uint32_t>(state.segment * state.phase_count() + phase);
}

// -- where the bytes are --------------------------------------------------------------------------

byte_range segment_range(const collective_task& task, const state_type& state) {
  const partition cut{.chunk_bytes = task.what.chunk_bytes};
  return cut.chunk(task.what.signature.count * task.element_bytes(), state.segment);
}

/// What a round splits: the half that stays here and the one that is the partner's.
struct split_range {
  byte_range kept;
  byte_range other;
};

split_range split_in(const collective_task& task, const state_type& state, std::uint32_t round) {
  byte_range whole = segment_range(task, state);
  split_range out;
  for (std::uint32_t i = 0; i <= round; ++i) {
    const std::uint64_t elements = whole.bytes / task.element_bytes();
    const std::uint64_t lower = (elements + 1) / 2 * task.element_bytes();
    out.kept = {whole.offset, lower};
    out.other = {whole.offset + lower, whole.bytes - lower};
    if ((state.number >> i & 1u) != 0) std::swap(out.kept, out.other);
    whole = out.kept;
  }
  return out;
}

byte_range range_put(const collective_task& task, const state_type& state, std::uint32_t phase) {
  if (halves(state, phase)) return split_in(task, state, round_of(state, phase)).other;
  if (doubles(state, phase)) return split_in(task, state, round_of(state, phase)).kept;
  return segment_range(task, state);
}

byte_range range_accepted(const collective_task& task, const state_type& state,
                          std::uint32_t phase) {
  if (halves(state, phase)) return split_in(task, state, round_of(state, phase)).kept;
  if (doubles(state, phase)) return split_in(task, state, round_of(state, phase)).other;
  return segment_range(task, state);
}

buffer_view output(const collective_task& task, const byte_range& range) {
  return task.buffers.receive.part(range.offset, range.bytes);
}

/// Own input lies in the output: it is scaled there, or the operation is in place.
bool own_is_in_output(const collective_task& task) {
  return task.in_place || task.scales();
}

/// What this rank knows before the arrival of `phase` is combined.
buffer_view partial(const collective_task& task, const state_type& state, std::uint32_t phase,
                    const byte_range& range) {
  const bool own = phase == first_phase(state) && !own_is_in_output(task);
  return (own ? task.buffers.send : task.buffers.receive).part(range.offset, range.bytes);
}

/// Arrivals of all rounds lie side by side, behind the place for the folded rank's input.
buffer_view arrival(const collective_task& task, const state_type& state, std::uint32_t phase) {
  const byte_range range = range_accepted(task, state, phase);
  if (phase == fold_phase) return task.buffers.scratch.part(0, range.bytes);
  std::uint64_t offset = task.what.chunk_bytes;
  for (std::uint32_t before = 1; before < phase; ++before)
    offset += range_accepted(task, state, before).bytes;
  return task.buffers.scratch.part(offset, range.bytes);
}

// -- posting --------------------------------------------------------------------------------------

void post_put(const collective_task& task, state_type& state, std::uint32_t phase,
              collective_effects& out) {
  const byte_range range = range_put(task, state, phase);
  state.puts_posted |= bit_of(phase);
  if (range.bytes == 0) {
    state.puts_finished |= bit_of(phase);
    return;
  }
  buffer_view source = output(task, range);
  if (halves(state, phase)) source = partial(task, state, phase, range);
  if (phase == fold_phase && !own_is_in_output(task))
    source = task.buffers.send.part(range.offset, range.bytes);
  out.push_back(put{peer_of(task, state, phase), step_of(state, phase), source});
}

void post_accept(const collective_task& task, state_type& state, std::uint32_t phase,
                 collective_effects& out) {
  const byte_range range = range_accepted(task, state, phase);
  state.accepts_posted |= bit_of(phase);
  if (range.bytes == 0) {
    state.accepts_finished |= bit_of(phase);
    return;
  }
  const bool combined = phase <= state.round_count;
  out.push_back(accept{peer_of(task, state, phase), step_of(state, phase),
                       combined ? arrival(task, state, phase) : output(task, range)});
}

void post_combine(const collective_task& task, state_type& state, collective_effects& out) {
  const std::uint32_t phase = state.next_combine;
  const byte_range range = range_accepted(task, state, phase);
  if (range.bytes == 0) {
    ++state.next_combine;
    return;
  }
  const buffer_view mine = partial(task, state, phase, range);
  const buffer_view theirs = arrival(task, state, phase);
  const bool left = task.what.self < peer_of(task, state, phase);
  combine effect;
  effect.token = step_of(state, phase) + 1;
  effect.target = output(task, range);
  effect.left = left ? mine : theirs;
  effect.right = left ? theirs : mine;
  effect.divide = phase == state.round_count && task.averages();
  state.working = bytes_work::combining;
  out.push_back(effect);
}

/// Phases from k + 1 up to, not including, `phase` brought their halves.
bool has_all_before(const state_type& state, std::uint32_t phase) {
  const std::uint64_t wanted = bit_of(phase) - bit_of(state.round_count + 1);
  return (state.accepts_finished & wanted) == wanted;
}

bool may_put(const state_type& state, std::uint32_t phase) {
  if (phase == fold_phase || has(state.puts_posted, phase)) return false;
  if (phase == result_phase(state) && state.part != role::active_with_folded) return false;
  if (halves(state, phase)) return state.next_combine >= phase;
  return state.next_combine > state.round_count && has_all_before(state, phase);
}

/// A half that comes back goes where it was sent from.
bool may_accept(const state_type& state, std::uint32_t phase) {
  if (has(state.accepts_posted, phase) || phase == result_phase(state)) return false;
  if (phase == fold_phase) return state.part == role::active_with_folded;
  return halves(state, phase) || has(state.puts_finished, round_of(state, phase) + 1);
}

bool may_combine(const state_type& state) {
  return state.working == bytes_work::none && state.next_combine <= state.round_count &&
         has(state.accepts_finished, state.next_combine);
}

/// An empty half is done as soon as it is posted, which may let something else go.
bool advance_active_once(const collective_task& task, state_type& state, collective_effects& out) {
  const std::uint64_t posted = state.accepts_posted + state.puts_posted;
  const std::uint32_t combined = state.next_combine;
  for (std::uint32_t phase = 0; phase <= result_phase(state); ++phase)
    if (may_accept(state, phase)) post_accept(task, state, phase, out);
  if (!state.scaled) return false;
  for (std::uint32_t phase = 0; phase <= result_phase(state); ++phase)
    if (may_put(state, phase)) post_put(task, state, phase, out);
  if (may_combine(state)) post_combine(task, state, out);
  return state.accepts_posted + state.puts_posted != posted || state.next_combine != combined;
}

void advance_folded(const collective_task& task, state_type& state, collective_effects& out) {
  const std::uint32_t last = result_phase(state);
  if (state.scaled && !has(state.puts_posted, fold_phase)) post_put(task, state, fold_phase, out);
  const bool free = !own_is_in_output(task) || has(state.puts_finished, fold_phase);
  if (free && !has(state.accepts_posted, last)) post_accept(task, state, last, out);
}

bool segment_is_complete(const state_type& state) {
  if (state.puts_posted != state.puts_finished) return false;
  if (state.accepts_posted != state.accepts_finished) return false;
  const std::uint32_t last = result_phase(state);
  if (state.part == role::folded) return has(state.accepts_finished, last);
  if (state.next_combine <= state.round_count || !has_all_before(state, last)) return false;
  return has(state.puts_finished, state.part == role::active ? last - 1 : last);
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
  effect.target = output(task, range);
  effect.scale = true;
  state.working = bytes_work::scaling;
  out.push_back(effect);
}

/// Whether the step is one of the current segment, and its phase posted to this peer and open.
bool is_open(const collective_task& task, const state_type& state, const put_finished& end,
             std::uint64_t open) {
  const std::uint32_t phase = end.step % state.phase_count();
  return end.step / state.phase_count() == state.segment && has(open, phase) &&
         end.peer == peer_of(task, state, phase);
}

}  // namespace

std::uint64_t recursive_halving_scratch_bytes(const plan& what) {
  // Every round may keep one element more than half of what it splits.
  const auto rounds = static_cast<std::uint64_t>(std::bit_width(what.size) - 1);
  return 2 * what.chunk_bytes + rounds * size_of(what.signature.type);
}

recursive_halving_state make_recursive_halving_state(const collective_task& task) {
  state_type state;
  const recursive_doubling_shape shape = recursive_doubling_shape_of(task.what);
  state.round_count = shape.round_count;
  state.folded_pair_count = shape.folded_pair_count;
  state.segment_count = shape.segment_count;
  const std::uint32_t self = task.what.self.value;
  const bool in_pair = self < 2 * state.folded_pair_count;
  state.number = in_pair ? self / 2 : self - state.folded_pair_count;
  if (in_pair) state.part = self % 2 == 0 ? role::active_with_folded : role::folded;
  return state;
}

bool on_event(const collective_task& task, recursive_halving_state& state,
              const put_finished& event, collective_effects&) {
  if (!is_open(task, state, event, state.puts_posted & ~state.puts_finished)) return false;
  state.puts_finished |= bit_of(event.step % state.phase_count());
  return true;
}

bool on_event(const collective_task& task, recursive_halving_state& state,
              const accept_finished& event, collective_effects&) {
  const std::uint64_t open = state.accepts_posted & ~state.accepts_finished;
  if (!is_open(task, state, {event.peer, event.step}, open)) return false;
  state.accepts_finished |= bit_of(event.step % state.phase_count());
  return true;
}

bool on_event(const collective_task&, recursive_halving_state& state, const bytes_finished& event,
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

void start(const collective_task& task, recursive_halving_state& state, collective_effects& out) {
  begin_segment(task, state, out);
}

void advance(const collective_task& task, recursive_halving_state& state, collective_effects& out) {
  while (true) {
    if (state.part == role::folded)
      advance_folded(task, state, out);
    else
      while (advance_active_once(task, state, out)) {
      }
    if (!segment_is_complete(state)) return;
    if (++state.segment == state.segment_count) return;
    begin_segment(task, state, out);
  }
}

bool is_complete(const collective_task&, const recursive_halving_state& state) {
  return state.segment == state.segment_count;
}

}  // namespace troupe::collectives
