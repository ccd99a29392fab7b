#include "tests/sim/collectives/collective_network.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <variant>

#include "collectives/reduction/combine_bytes.hpp"
#include "runtime/data_type.hpp"

namespace troupe::sim {

using namespace troupe::collectives;

namespace {

constexpr std::uint32_t memory_slot = 0;
constexpr std::uint32_t scratch_slot = 1;
constexpr std::uint32_t saved_slot = 2;

/// Names of regions: byte works count from 0, transfers of either side from here.
constexpr std::uint64_t put_names = std::uint64_t{1} << 40;
constexpr std::uint64_t accept_names = std::uint64_t{1} << 41;

bool overlap(const buffer_view& one, const buffer_view& other) {
  if (one.id != other.id || one.bytes == 0 || other.bytes == 0) return false;
  return one.offset < other.offset + other.bytes && other.offset < one.offset + one.bytes;
}

combine_rule rule_of(const network_member& given) {
  return {.type = given.what.signature.type,
          .op = given.what.signature.op,
          .scalar = given.scalar,
          .divisor = given.what.size};
}

}  // namespace

collective_network::collective_network(std::vector<network_member> members, network_options options)
    : options_(std::move(options)), random_(options_.seed) {
  for (network_member& member : members) {
    node next;
    next.scratch.resize(member.what.scratch_bytes, std::byte{0xee});
    next.saved.resize(member.what.saved_bytes, std::byte{0xdd});
    collective_buffers buffers{
        .send = member.send, .receive = member.receive, .blocks = member.blocks};
    buffers.scratch = {{scratch_slot, 0}, 0, member.what.scratch_bytes};
    buffers.saved = {{saved_slot, 0}, 0, member.what.saved_bytes};
    const auto state = make_state(member.what, buffers);
    if (!state)
      failure_ = "make_state refused the buffers";
    else
      next.state = *state;
    next.given = std::move(member);
    nodes_.push_back(std::move(next));
  }
  for (std::uint32_t i = 0; i < nodes_.size(); ++i)
    pending_.push_back({happening_kind::start, i, 0});
}

std::string collective_network::run() {
  while (failure_.empty() && !pending_.empty()) {
    const std::size_t chosen = random_.below(pending_.size());
    const happening next = pending_[chosen];
    pending_[chosen] = pending_.back();
    pending_.pop_back();
    happen(next);
    if (++event_count_ > options_.event_count_max) fail(next.member, "more events than the bound");
  }
  return failure_.empty() ? leftovers() : failure_;
}

void collective_network::happen(const happening& next) {
  hash(static_cast<std::uint64_t>(next.kind) << 32 | next.member);
  const std::uint32_t member = next.member;
  switch (next.kind) {
    case happening_kind::start: drive(member, collective_started{}); return;
    case happening_kind::land: land(transfers_[next.index], next.index); return;
    case happening_kind::put_done: {
      release(member, put_names + next.index);
      const transfer& done = transfers_[next.index];
      drive(member, put_finished{done.to, done.step});
      return;
    }
    case happening_kind::accept_done: {
      release(member, accept_names + next.index);
      const transfer& done = transfers_[next.index];
      drive(member, accept_finished{done.from, done.step});
      return;
    }
    case happening_kind::bytes_done: {
      byte_work& done = nodes_[member].byte_works[next.index];
      do_bytes(member, done);
      done.live = false;
      release(member, next.index);
      drive(member, bytes_finished{done.token});
      return;
    }
  }
}

void collective_network::drive(std::uint32_t member, const collective_event& event) {
  node& self = nodes_[member];
  ++self.work.events;
  effects_.clear();
  step(self.state, event, effects_);
  hash(effects_.size());
  for (collective_effect& effect : effects_) {
    if (!failure_.empty()) return;
    hash(effect.index());
    if (options_.mutate && !options_.mutate(rank{member}, effect)) continue;
    if (self.work.finished) fail(member, "an effect after finish");
    std::visit([&](const auto& what) { apply(member, what); }, effect);
  }
}

// -- transfers ------------------------------------------------------------------------------------

collective_network::transfer& collective_network::transfer_of(const transfer& key,
                                                              std::size_t& index) {
  for (const std::size_t open : open_transfers_) {
    transfer& one = transfers_[open];
    if (one.from != key.from || one.to != key.to || one.step != key.step) continue;
    index = open;
    return one;
  }
  index = transfers_.size();
  open_transfers_.push_back(index);
  transfers_.push_back(key);
  return transfers_.back();
}

void collective_network::apply(std::uint32_t member, const put& effect) {
  hash(std::uint64_t{effect.peer.value} << 32 | effect.step);
  if (effect.peer.value >= nodes_.size() || effect.peer.value == member)
    return fail(member, "put to a rank that is no peer");
  std::size_t index = 0;
  transfer& one = transfer_of({rank{member}, effect.peer, effect.step}, index);
  if (one.has_put) return fail(member, "two puts of one step");
  one.has_put = true;
  one.source = effect.source;
  use(member, {put_names + index, effect.source, usage::reads});
  member_work& work = nodes_[member].work;
  ++work.puts;
  work.bytes_sent += effect.source.bytes;
  if (effect.source.bytes <= options_.eager_bytes && failure_.empty()) {
    one.taken = true;
    const std::byte* from = at(member, effect.source);
    one.bytes.assign(from, from + effect.source.bytes);
    pending_.push_back({happening_kind::put_done, member, index});
  }
  if (one.has_accept) pending_.push_back({happening_kind::land, effect.peer.value, index});
}

void collective_network::apply(std::uint32_t member, const accept& effect) {
  hash(std::uint64_t{effect.peer.value} << 32 | effect.step);
  if (effect.peer.value >= nodes_.size() || effect.peer.value == member)
    return fail(member, "accept from a rank that is no peer");
  std::size_t index = 0;
  transfer& one = transfer_of({effect.peer, rank{member}, effect.step}, index);
  if (one.has_accept) return fail(member, "two accepts of one step");
  one.has_accept = true;
  one.target = effect.target;
  use(member, {accept_names + index, effect.target, usage::writes});
  if (one.has_put) pending_.push_back({happening_kind::land, member, index});
}

/// Reads the source as late as the sender allows, so that bytes changed too early are seen.
void collective_network::land(transfer& one, std::size_t index) {
  one.landed = true;
  std::erase(open_transfers_, index);
  if (one.source.bytes != one.target.bytes)
    return fail(one.to.value, "put and accept of different sizes");
  if (one.source.bytes != 0) {
    const std::byte* from = one.taken ? one.bytes.data() : at(one.from.value, one.source);
    std::memcpy(at(one.to.value, one.target), from, one.source.bytes);
  }
  one.bytes = {};
  pending_.push_back({happening_kind::accept_done, one.to.value, index});
  if (!one.taken) pending_.push_back({happening_kind::put_done, one.from.value, index});
}

// -- bytes ----------------------------------------------------------------------------------------

void collective_network::begin_byte_work(std::uint32_t member, const collective_effect& effect,
                                         std::uint32_t token) {
  node& self = nodes_[member];
  for (const byte_work& other : self.byte_works)
    if (other.live && other.token == token) return fail(member, "a token in use twice");
  pending_.push_back({happening_kind::bytes_done, member, self.byte_works.size()});
  self.byte_works.push_back({true, token, effect});
}

void collective_network::apply(std::uint32_t member, const combine& effect) {
  const bool alike =
      effect.left.bytes == effect.right.bytes && effect.left.bytes == effect.target.bytes;
  if (!alike) return fail(member, "a combine of different sizes");
  for (const buffer_view* operand : {&effect.left, &effect.right})
    if (overlap(*operand, effect.target) && !(*operand == effect.target))
      return fail(member, "a combine whose target overlaps an operand in part");
  const std::uint64_t name = nodes_[member].byte_works.size();
  use(member, {name, effect.left, usage::reads});
  use(member, {name, effect.right, usage::reads});
  use(member, {name, effect.target, usage::writes});
  ++nodes_[member].work.combines;
  begin_byte_work(member, effect, effect.token);
}

void collective_network::apply(std::uint32_t member, const copy& effect) {
  if (effect.source.bytes != effect.target.bytes) return fail(member, "a copy of different sizes");
  if (overlap(effect.source, effect.target) && !(effect.source == effect.target))
    return fail(member, "a copy whose target overlaps its source in part");
  const std::uint64_t name = nodes_[member].byte_works.size();
  use(member, {name, effect.source, usage::reads});
  use(member, {name, effect.target, usage::writes});
  ++nodes_[member].work.copies;
  begin_byte_work(member, effect, effect.token);
}

void collective_network::do_bytes(std::uint32_t member, const byte_work& what) {
  combine_rule rule = rule_of(nodes_[member].given);
  const std::uint64_t element_bytes = size_of(rule.type);
  if (const auto* effect = std::get_if<combine>(&what.effect)) {
    rule.scale_left = effect->scale_left;
    rule.scale_right = effect->scale_right;
    rule.divide = effect->divide;
    combine_bytes(rule, at(member, effect->target), at(member, effect->left),
                  at(member, effect->right), effect->target.bytes / element_bytes);
  }
  if (const auto* effect = std::get_if<copy>(&what.effect)) {
    rule.scale_left = effect->scale;
    rule.divide = effect->divide;
    copy_bytes(rule, at(member, effect->target), at(member, effect->source),
               effect->target.bytes / element_bytes);
  }
}

void collective_network::apply(std::uint32_t member, const finish&) {
  node& self = nodes_[member];
  if (!self.regions.empty()) return fail(member, "finish with buffers in use");
  if (self.given.what.signature.kind == operation_kind::barrier)
    for (const node& other : nodes_)
      if (other.work.events == 0) return fail(member, "a barrier let go before all had come");
  self.work.finished = true;
}

// -- what is in use -------------------------------------------------------------------------------

std::vector<std::byte>& collective_network::memory_of(node& self, std::uint32_t slot) {
  if (slot == memory_slot) return self.given.memory;
  return slot == saved_slot ? self.saved : self.scratch;
}

std::byte* collective_network::at(std::uint32_t member, const buffer_view& view) {
  node& self = nodes_[member];
  return memory_of(self, view.id.slot).data() + view.offset;
}

void collective_network::use(std::uint32_t member, const region& wanted) {
  node& self = nodes_[member];
  if (wanted.view.bytes != 0) {
    const std::size_t size = memory_of(self, wanted.view.id.slot).size();
    if (wanted.view.id.slot > saved_slot || wanted.view.offset + wanted.view.bytes > size)
      return fail(member, "a view leaves its buffer");
  }
  for (const region& other : self.regions) {
    const bool conflict = wanted.how == usage::writes || other.how == usage::writes;
    if (other.name != wanted.name && conflict && overlap(other.view, wanted.view))
      return fail(member, "bytes are written while in use");
  }
  self.regions.push_back(wanted);
}

void collective_network::release(std::uint32_t member, std::uint64_t name) {
  std::erase_if(nodes_[member].regions, [&](const region& one) { return one.name == name; });
}

void collective_network::fail(std::uint32_t member, const std::string& what) {
  if (failure_.empty()) failure_ = "rank " + std::to_string(member) + ": " + what;
}

void collective_network::hash(std::uint64_t value) {
  trace_hash_ = (trace_hash_ ^ value) * 0x100'0000'01b3ull;
}

std::string collective_network::leftovers() const {
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (!nodes_[i].work.finished) return "rank " + std::to_string(i) + ": did not finish";
  if (!open_transfers_.empty()) {
    const transfer& one = transfers_[open_transfers_.front()];
    return std::string(one.has_put ? "a put" : "an accept") + " left over: step " +
           std::to_string(one.step) + " from " + std::to_string(one.from.value) + " to " +
           std::to_string(one.to.value);
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (nodes_[i].state.ignored != 0) return "rank " + std::to_string(i) + ": ignored an event";
  return {};
}

}  // namespace troupe::sim
