#include <algorithm>
#include <cstring>

#include "collectives/plan.hpp"
#include "collectives/reduction/combine_bytes.hpp"
#include "runtime/assert.hpp"
#include "tests/sim/actors/epoch_world.hpp"

namespace troupe::sim {

using namespace troupe::actors;

namespace {

constexpr std::uint32_t output_slot = 0, input_slot = 1, save_slot = 2, scratch_slot = 3;
constexpr std::uint64_t first_token = 1000;

buffer_view view_of(std::uint32_t slot, const std::vector<float>& memory) {
  return {{slot, 0}, 0, memory.size() * sizeof(float)};
}

}  // namespace

std::uint32_t epoch_world::place_of(net::member_id id) const {
  TROUPE_ASSERT(id.value < rank_of_member_.size());
  return rank_of_member_[id.value];
}

void epoch_world::drive(std::uint32_t rank, const epoch_event& event) {
  if (!ranks_[rank].alive) return;
  epoch_effects effects;
  step(ranks_[rank].state, event, instant{}, effects);
  for (const auto& one : effects)
    std::visit([&](const auto& e) { effect(rank, e); }, one);
}

// -- frames ---------------------------------------------------------------------------------------

void epoch_world::send(std::uint32_t from, std::uint32_t to, net::membership_frame frame) {
  if (!ranks_[to].alive || !connected(from, to)) return;
  wires_[std::uint64_t{from} << 32 | to].push_back(std::move(frame));
}

void epoch_world::effect(std::uint32_t rank, const net::send_membership& e) {
  auto frame = e.frame;
  if (auto* report = std::get_if<net::report_frame>(&frame.body))
    if (options_.bug == planted_bug::proposal_not_adopted && !report->entered) {
      report->accepted.reset();
      report->accepted_in = {};
    }
  if (const auto* propose = std::get_if<net::propose_frame>(&frame.body))
    if (options_.bug == planted_bug::commit_without_accept) {
      const auto next = propose->next;
      frame.body = net::commit_frame{next};
      frame.epoch = next.number;
      auto own = frame;
      own.sender = ranks_[rank].state.membership.self;
      post(rank, net::membership_event(net::membership_frame_received{own.sender, own}));
    }
  send(rank, place_of(e.to), std::move(frame));
}

void epoch_world::effect(std::uint32_t rank, const net::send_to_joiner& e) {
  send(rank, options_.rank_count + static_cast<std::uint32_t>(e.token - first_token), e.frame);
}

void epoch_world::effect(std::uint32_t rank, const net::send_join& e) {
  send(rank, (rank - options_.rank_count) % options_.rank_count, e.frame);
}

void epoch_world::effect(std::uint32_t rank, const net::enter_epoch& e) {
  auto& m = ranks_[rank];
  m.joined = true;
  m.fires = {};
  for (const auto& one : e.record.admitted) {
    if (rank_of_member_.size() <= one.member.value) rank_of_member_.resize(one.member.value + 1);
    rank_of_member_[one.member.value] =
        options_.rank_count + static_cast<std::uint32_t>(one.token - first_token);
  }
  if (options_.bug == planted_bug::guest_votes) m.state.membership.current.guests.clear();
  check_epoch(rank);
}

void epoch_world::effect(std::uint32_t rank, const net::leave_communicator& e) {
  if (e.why == errc::no_quorum) check_give_up(rank);
}

void epoch_world::effect(std::uint32_t rank, const net::arm_membership_timer& e) {
  ranks_[rank].timers[static_cast<std::size_t>(e.timer)] = e.generation;
}

// -- operations -----------------------------------------------------------------------------------

float epoch_world::input_of(net::member_id id, std::uint64_t number, std::size_t element) const {
  // Whole numbers, so that a sum of any of them in any order is exact.
  return static_cast<float>((id.value * 37 + number * 11 + element * 5) % 509 + 1);
}

void epoch_world::refill_input(std::uint32_t rank) {
  auto& m = ranks_[rank];
  const std::size_t count = options_.rank_count + options_.joiner_count;
  m.input.resize(count);
  for (std::size_t i = 0; i < count; ++i)
    m.input[i] = input_of(m.state.membership.self, m.number, i);
  m.output = options_.in_place ? m.input : std::vector<float>(count, -1.0f);
  m.saved = false;
}

void epoch_world::start(std::uint32_t rank, const start_promised& e) {
  auto& m = ranks_[rank];
  const auto& current = m.state.membership.current;
  m.slot = e.slot;
  m.number = e.number.value;
  if (!e.again) refill_input(rank);
  if (e.again && options_.bug == planted_bug::input_not_saved) m.save = m.output;
  const bool counts_old =
      e.again && options_.bug == planted_bug::contributor_not_counted && !m.peers.empty();
  m.divisor = static_cast<std::uint32_t>(counts_old ? m.peers.size() : current.members.size());
  m.peers = current.members;
  m.in = current.number;
  const auto self = static_cast<std::uint32_t>(
      std::lower_bound(m.peers.begin(), m.peers.end(), m.state.membership.self) - m.peers.begin());
  collectives::tuning limits;
  limits.ftar_chunk_bytes = options_.chunk_elements * sizeof(float);
  limits.ftar_chunk_count = options_.chunk_count;
  const auto what = collectives::make_plan(
      {.signature = {.kind = operation_kind::all_reduce,
                     .type = data_type::float32,
                     .op = options_.average ? reduction::average : reduction::sum,
                     .count = m.input.size()},
       .self = troupe::rank{self},
       .size = static_cast<std::uint32_t>(m.peers.size()),
       .requested = algorithm::ftar,
       .in_place = options_.in_place && !m.saved},
      limits);
  TROUPE_ASSERT(what.has_value());
  m.scratch.assign(what->scratch_bytes / sizeof(float), -2.0f);
  if (what->saved_bytes != 0) m.save.assign(what->saved_bytes / sizeof(float), -3.0f);
  collectives::collective_buffers buffers{.receive = view_of(output_slot, m.output)};
  buffers.send = !options_.in_place ? view_of(input_slot, m.input)
                 : m.saved          ? view_of(save_slot, m.save)
                                    : buffers.receive;
  buffers.scratch = view_of(scratch_slot, m.scratch);
  if (what->saved_bytes != 0) buffers.saved = view_of(save_slot, m.save);
  m.part = *collectives::make_state(*what, buffers);
  m.live = true;
  run(rank, collectives::collective_started{});
  if (what->saved_bytes != 0) m.saved = true;
}

void epoch_world::effect(std::uint32_t rank, const start_promised& e) {
  start(rank, e);
}

void epoch_world::effect(std::uint32_t rank, const stop_promised&) {
  ranks_[rank].stop_asked = true;
  if (options_.stops_at_once) stop_now(rank, errc::ok, net::no_member);
}

void epoch_world::effect(std::uint32_t rank, const stop_others&) {
  post(rank, others_stopped{});
}

void epoch_world::effect(std::uint32_t rank, const restore_promised& e) {
  auto& m = ranks_[rank];
  if (m.slot != e.slot) return violate(rank, "the wrong operation is to be restored");
  m.restore_asked = true;
  if (!options_.stops_at_once) return;
  m.restore_asked = false;
  if (m.saved) m.output = m.save;
  m.live = false;
  post(rank, input_restored{m.slot});
}

void epoch_world::effect(std::uint32_t rank, const finish_promised& e) {
  auto& m = ranks_[rank];
  m.live = false;
  call_outcome outcome{e.number.value, errc::ok, e.epoch, e.contributors, m.output};
  check_outcome(rank, outcome);
  m.outcomes.push_back(std::move(outcome));
  refill_input(rank);
}

void epoch_world::effect(std::uint32_t rank, const fail_promised& e) {
  auto& m = ranks_[rank];
  call_outcome outcome{e.number.value, e.why, {}, {}, {}};
  if (m.slot == e.slot) outcome.result = options_.in_place ? m.output : m.input;
  check_outcome(rank, outcome);
  outcome.result.clear();
  m.outcomes.push_back(std::move(outcome));
}

// -- bytes ----------------------------------------------------------------------------------------

void epoch_world::run(std::uint32_t rank, const collectives::collective_event& event) {
  auto& m = ranks_[rank];
  collectives::collective_effects effects;
  collectives::step(m.part, event, effects);
  for (const auto& one : effects)
    std::visit([&](const auto& e) { move(rank, e); }, one);
  const bool skips = options_.bug == planted_bug::confirmation_skipped && m.live &&
                     is_complete(m) && m.state.now == epoch_state::activity::running;
  if (skips) post(rank, promised_confirmed{m.slot});
}

std::byte* epoch_world::at(std::uint32_t rank, const buffer_view& view) {
  auto& m = ranks_[rank];
  std::vector<float>* const memory[] = {&m.output, &m.input, &m.save, &m.scratch};
  auto& chosen = *memory[view.id.slot];
  TROUPE_ASSERT(view.offset + view.bytes <= chosen.size() * sizeof(float));
  return reinterpret_cast<std::byte*>(chosen.data()) + view.offset;
}

epoch_world::transfer& epoch_world::transfer_of(const transfer& key) {
  for (auto& one : transfers_)
    if (one.in == key.in && one.number == key.number && one.from == key.from && one.to == key.to &&
        one.step == key.step)
      return one;
  transfers_.push_back(key);
  return transfers_.back();
}

void epoch_world::move(std::uint32_t rank, const collectives::put& e) {
  const auto& m = ranks_[rank];
  const auto to = place_of(m.peers[e.peer.value]);
  if (!ranks_[to].alive) return;
  auto& one = transfer_of({m.in, m.number, rank, to, e.step});
  if (one.has_put) return violate(rank, "two puts of one step");
  one.has_put = true;
  one.source = e.source;
}

void epoch_world::move(std::uint32_t rank, const collectives::accept& e) {
  const auto& m = ranks_[rank];
  const auto from = place_of(m.peers[e.peer.value]);
  if (!ranks_[from].alive) return;
  auto& one = transfer_of({m.in, m.number, from, rank, e.step});
  if (one.has_accept) return violate(rank, "two accepts of one step");
  one.has_accept = true;
  one.target = e.target;
}

void epoch_world::move(std::uint32_t rank, const collectives::combine& e) {
  const collectives::combine_rule rule{.type = data_type::float32,
                                       .op = options_.average ? reduction::average : reduction::sum,
                                       .divisor = ranks_[rank].divisor,
                                       .scale_left = e.scale_left,
                                       .scale_right = e.scale_right,
                                       .divide = e.divide};
  collectives::combine_bytes(rule, at(rank, e.target), at(rank, e.left), at(rank, e.right),
                             e.target.bytes / sizeof(float));
  run(rank, collectives::bytes_finished{e.token});
}

void epoch_world::move(std::uint32_t rank, const collectives::copy& e) {
  if (e.target.bytes != 0) std::memcpy(at(rank, e.target), at(rank, e.source), e.target.bytes);
  run(rank, collectives::bytes_finished{e.token});
}

void epoch_world::move(std::uint32_t rank, const collectives::finish&) {
  post(rank, promised_confirmed{ranks_[rank].slot});
}

}  // namespace troupe::sim
