#include "tests/sim/collectives/collective_case.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "runtime/data_type.hpp"
#include "tests/reference/element_reference.hpp"

namespace troupe::sim {

using namespace troupe::collectives;
using reference::placement;

namespace {

constexpr std::byte untouched{0xcd};

template <class T, std::size_t N>
T draw_from(const std::array<T, N>& choices, random_stream& random) {
  return choices[random.below(N)];
}

// -- drawing --------------------------------------------------------------------------------------

std::uint32_t draw_rank_count(random_stream& random) {
  if (random.one_in(200)) return static_cast<std::uint32_t>(random.between(18, 64));
  return static_cast<std::uint32_t>(random.between(1, 17));
}

std::uint64_t draw_count(std::uint32_t ranks, random_stream& random) {
  const std::array<std::uint64_t, 8> edges{0, 1, ranks - 1, ranks, ranks + 1, 2, 31, 97};
  if (random.one_in(2)) return draw_from(edges, random);
  return random.between(0, random.one_in(8) ? 150 : 40);
}

std::optional<algorithm> draw_request(operation_kind kind, random_stream& random) {
  switch (kind) {
    case operation_kind::all_reduce:
      if (random.one_in(4)) return std::nullopt;
      return draw_from(
          std::array{algorithm::ring, algorithm::recursive_doubling, algorithm::recursive_halving,
                     algorithm::binomial_tree, algorithm::ftar},
          random);
    case operation_kind::all_gather:
      if (random.one_in(4)) return std::nullopt;
      return draw_from(
          std::array{algorithm::ring, algorithm::direct, algorithm::bruck, algorithm::binary_tree},
          random);
    case operation_kind::reduce_scatter:
      if (random.one_in(4)) return std::nullopt;
      return random.one_in(2) ? algorithm::ring : algorithm::direct;
    case operation_kind::broadcast:
    case operation_kind::reduce:
      if (random.one_in(4)) return std::nullopt;
      return random.one_in(2) ? algorithm::binomial_tree : algorithm::chain;
    default: return std::nullopt;
  }
}

std::uint64_t draw_code(data_type type, random_stream& random, std::uint64_t flavour) {
  const std::uint64_t bits = random.next() >> (64 - 8 * size_of(type));
  if (!reference::is_floating(type) || flavour == 0) return bits;
  if (flavour == 1) return reference::encode(type, static_cast<double>(random.below(9)) - 4);
  if (random.one_in(12)) return bits;
  return reference::encode(type, static_cast<double>(random.below(2000)) / 64 - 15);
}

std::vector<std::byte> draw_input(const operation_signature& signature, std::uint64_t count,
                                  random_stream& random) {
  std::vector<std::byte> out(count * size_of(signature.type));
  const std::uint64_t flavour = random.below(3);
  for (std::uint64_t i = 0; i < count; ++i)
    reference::write_element(signature.type, out.data(), i,
                             draw_code(signature.type, random, flavour));
  return out;
}

struct sizes {
  std::uint64_t send = 0;
  std::uint64_t receive = 0;
};

sizes sizes_of(const plan_request& request) {
  const operation_signature& signature = request.signature;
  const std::uint64_t bytes = signature.count * size_of(signature.type);
  const bool at_root = request.self.value == signature.root;
  switch (signature.kind) {
    case operation_kind::all_reduce: return {bytes, bytes};
    case operation_kind::reduce: return {bytes, at_root ? bytes : 0};
    case operation_kind::gather: return {bytes, at_root ? bytes * request.size : 0};
    case operation_kind::scatter: return {at_root ? bytes * request.size : 0, bytes};
    case operation_kind::all_to_all: return {bytes * request.size, bytes * request.size};
    case operation_kind::all_gather: return {bytes, bytes * request.size};
    case operation_kind::reduce_scatter: return {bytes * request.size, bytes};
    case operation_kind::broadcast: return {0, bytes};
    case operation_kind::send: return {bytes, 0};
    case operation_kind::receive: return {0, bytes};
    default: return {};
  }
}

/// Kinds that may be in place, at a rank that has both buffers.
bool may_be_in_place(operation_kind kind) {
  switch (kind) {
    case operation_kind::all_reduce:
    case operation_kind::all_gather:
    case operation_kind::reduce_scatter:
    case operation_kind::reduce:
    case operation_kind::gather:
    case operation_kind::scatter: return true;
    default: return false;
  }
}

sizes extents_of(const std::vector<peer_block>& blocks) {
  sizes out;
  for (const peer_block& one : blocks) {
    out.send = std::max(out.send, one.send_offset + one.send_bytes);
    out.receive = std::max(out.receive, one.receive_offset + one.receive_bytes);
  }
  return out;
}

/// Puts the buffers into memory with guards of odd sizes around them.
void lay_out(network_member& member, const plan_request& request, random_stream& random) {
  const sizes bytes = request.signature.kind == operation_kind::all_to_all_v
                          ? extents_of(member.blocks)
                          : sizes_of(request);
  const std::uint64_t first = random.between(1, 16);
  const std::uint64_t gap = random.between(1, 16);
  member.send = {{0, 0}, first, bytes.send};
  member.receive = {{0, 0}, first + bytes.send + gap, bytes.receive};
  const bool has_both = bytes.send != 0 && bytes.receive != 0;
  if (request.in_place && has_both && may_be_in_place(request.signature.kind)) {
    const std::uint64_t block =
        request.self.value * request.signature.count * size_of(request.signature.type);
    member.receive.offset = first;
    const operation_kind kind = request.signature.kind;
    if (kind == operation_kind::all_gather || kind == operation_kind::gather)
      member.send.offset += block;
    if (kind == operation_kind::reduce_scatter || kind == operation_kind::scatter)
      member.receive.offset += block;
  }
  member.memory.assign(first + bytes.send + gap + bytes.receive + gap, untouched);
}

/// Where a rank's input starts out.
const buffer_view& input_view(const network_member& member) {
  const operation_kind kind = member.what.signature.kind;
  const bool receive_alone = kind == operation_kind::broadcast || kind == operation_kind::receive;
  return receive_alone ? member.receive : member.send;
}

bool has_input(const plan& what) {
  if (what.signature.kind == operation_kind::broadcast)
    return what.self.value == what.signature.root;
  if (what.signature.kind == operation_kind::scatter) return what.self.value == what.signature.root;
  return what.signature.kind != operation_kind::receive &&
         what.signature.kind != operation_kind::barrier;
}

/// A send counts: its root is who sends.
bool has_root(operation_kind kind) {
  switch (kind) {
    case operation_kind::broadcast:
    case operation_kind::send:
    case operation_kind::reduce:
    case operation_kind::gather:
    case operation_kind::scatter: return true;
    default: return false;
  }
}

/// Counts of every pair, many of them zero, and blocks in any order with gaps between them.
std::vector<std::vector<peer_block>> draw_blocks(const plan_request& common,
                                                 random_stream& random) {
  const std::uint64_t element = size_of(common.signature.type);
  std::vector<std::vector<peer_block>> out(common.size, std::vector<peer_block>(common.size));
  for (std::uint32_t from = 0; from < common.size; ++from)
    for (std::uint32_t to = 0; to < common.size; ++to)
      out[from][to].send_bytes = out[to][from].receive_bytes =
          random.one_in(3) ? 0 : draw_count(common.size, random) * element;
  for (std::vector<peer_block>& blocks : out) {
    const auto turn = random.below(common.size);
    std::uint64_t send = random.below(3) * element, receive = random.below(3) * element;
    for (std::uint32_t i = 0; i < common.size; ++i) {
      peer_block& sent = blocks[(i + turn) % common.size];
      sent.send_offset = send;
      send += sent.send_bytes + random.below(3) * element;
      peer_block& received = blocks[(2 * common.size - i - turn) % common.size];
      received.receive_offset = receive;
      receive += received.receive_bytes + random.below(3) * element;
    }
  }
  return out;
}

plan_request draw_request_of(random_stream& random, const case_wishes& wishes) {
  constexpr std::array kinds{
      operation_kind::all_reduce, operation_kind::all_reduce,     operation_kind::all_reduce,
      operation_kind::all_gather, operation_kind::reduce_scatter, operation_kind::reduce_scatter,
      operation_kind::broadcast,  operation_kind::barrier,        operation_kind::send,
      operation_kind::reduce,     operation_kind::reduce,         operation_kind::gather,
      operation_kind::scatter,    operation_kind::all_to_all,     operation_kind::all_to_all_v};
  plan_request out;
  operation_signature& signature = out.signature;
  signature.kind = wishes.kind ? *wishes.kind : draw_from(kinds, random);
  out.size = wishes.rank_count != 0 ? wishes.rank_count : draw_rank_count(random);
  if (signature.kind == operation_kind::send) out.size = 2;
  signature.type = static_cast<data_type>(random.below(data_type_count));
  signature.op = static_cast<reduction>(random.below(reduction_count));
  const bool has_count =
      signature.kind != operation_kind::barrier && signature.kind != operation_kind::all_to_all_v;
  signature.count = has_count ? draw_count(out.size, random) : 0;
  if (has_root(signature.kind)) signature.root = static_cast<std::uint32_t>(random.below(out.size));
  out.requested = wishes.requested ? wishes.requested : draw_request(signature.kind, random);
  out.in_place = random.one_in(2);
  return out;
}

tuning draw_tuning(random_stream& random) {
  return {.all_reduce_halving_above_bytes = random.below(200),
          .all_reduce_ring_above_bytes = random.below(200),
          .all_gather_ring_above_bytes = random.below(200),
          .all_gather_bruck_above_ranks = static_cast<std::uint32_t>(random.between(1, 12)),
          .reduce_scatter_ring_above_bytes = random.below(200),
          .broadcast_chain_above_bytes = random.below(200),
          .reduce_chain_above_bytes = random.below(200),
          .chunk_bytes = random.one_in(4) ? random.between(1, 1000) : random.between(8, 64),
          .pipeline_chunk_count = static_cast<std::uint32_t>(
              random.one_in(4) ? random.between(1, 16) : random.between(1, 4)),
          .ftar_chunk_bytes = random.between(8, 100),
          .ftar_chunk_count = static_cast<std::uint32_t>(random.between(1, 5))};
}

/// The request of one rank: send and receive are two sides of one case.
plan_request request_of(const plan_request& common, std::uint32_t self) {
  plan_request out = common;
  out.self = rank{self};
  if (common.signature.kind != operation_kind::send) return out;
  out.peer = rank{1 - self};
  if (self != common.signature.root) out.signature.kind = operation_kind::receive;
  return out;
}

}  // namespace

collective_case draw_case(std::uint64_t seed, const case_wishes& wishes) {
  random_stream random(seed);
  collective_case out;
  const plan_request common = draw_request_of(random, wishes);
  const tuning limits = draw_tuning(random);
  out.where = common.in_place ? placement::in_place : placement::out_of_place;
  out.network.seed = random.next();
  out.network.eager_bytes = random.one_in(2) ? 0 : random.below(80);
  out.call.signature = common.signature;
  if (common.signature.kind == operation_kind::all_to_all_v)
    out.call.blocks = draw_blocks(common, random);
  constexpr std::array scalars{1.0, 2.0, -0.5, 0.3, 3.0};
  for (std::uint32_t self = 0; self < common.size; ++self) {
    const plan_request request = request_of(common, self);
    network_member member{.what = make_plan(request, limits).value()};
    member.scalar = draw_from(scalars, random);
    if (!out.call.blocks.empty()) member.blocks = out.call.blocks[self];
    lay_out(member, request, random);
    const std::uint64_t elements = input_view(member).bytes / size_of(request.signature.type);
    std::vector<std::byte> input;
    if (has_input(member.what)) input = draw_input(request.signature, elements, random);
    if (!input.empty())
      std::memcpy(member.memory.data() + input_view(member).offset, input.data(), input.size());
    out.call.algorithm = member.what.path.algorithm;
    out.call.scalars.push_back(member.scalar);
    out.call.inputs.push_back(std::move(input));
    const reference::expected_work work = work_of(member.what, out.where, member.blocks);
    out.network.event_count_max += 2 * work.events();
    out.members.push_back(std::move(member));
  }
  return out;
}

std::string describe(const collective_case& one) {
  const plan& what = one.members[0].what;
  return to_string(one.call.signature) + " by " + std::string(to_string(one.call.algorithm)) +
         ", " + std::to_string(what.size) + " ranks, " +
         (one.where == placement::in_place ? "in place" : "out of place") + ", chunks of " +
         std::to_string(what.chunk_bytes) + " bytes, " + std::to_string(what.pipeline_chunk_count) +
         " in flight, eager up to " + std::to_string(one.network.eager_bytes);
}

// -- checking -------------------------------------------------------------------------------------

namespace {

/// The memory as it was, with the expected output where the output goes.
std::vector<std::byte> expected_memory(const collective_case& one, std::uint32_t self) {
  const network_member& member = one.members[self];
  std::vector<std::byte> out = member.memory;
  reference::collective_call call = one.call;
  call.signature.kind = member.what.signature.kind;
  place_expected_output(call, self,
                        std::span(out).subspan(member.receive.offset, member.receive.bytes));
  return out;
}

std::string compare_memory(const collective_case& one, std::uint32_t self,
                           const std::vector<std::byte>& memory) {
  const std::vector<std::byte> expected = expected_memory(one, self);
  const buffer_view& output = one.members[self].receive;
  for (std::size_t i = 0; i < memory.size(); ++i) {
    if (memory[i] == expected[i]) continue;
    const bool in_output = i >= output.offset && i < output.offset + output.bytes;
    return "rank " + std::to_string(self) + ": byte " + std::to_string(i - output.offset) +
           (in_output ? " of the output is wrong" : " from the output was touched");
  }
  return {};
}

std::string compare_work(const collective_case& one, std::uint32_t self, const member_work& work) {
  const reference::expected_work expected =
      work_of(one.members[self].what, one.where, one.members[self].blocks);
  const member_work wanted{.puts = expected.puts,
                           .bytes_sent = expected.bytes_sent,
                           .combines = expected.combines,
                           .copies = expected.copies,
                           .events = expected.events(),
                           .finished = true};
  if (work == wanted) return {};
  return "rank " + std::to_string(self) + ": " + std::to_string(work.puts) + " puts of " +
         std::to_string(work.bytes_sent) + " bytes, " + std::to_string(work.combines) +
         " combines, " + std::to_string(work.copies) + " copies, " + std::to_string(work.events) +
         " events; expected " + std::to_string(wanted.puts) + ", " +
         std::to_string(wanted.bytes_sent) + ", " + std::to_string(wanted.combines) + ", " +
         std::to_string(wanted.copies) + ", " + std::to_string(wanted.events);
}

}  // namespace

case_outcome run_case(const collective_case& one) {
  collective_network network(one.members, one.network);
  case_outcome out;
  out.failure = network.run();
  out.trace_hash = network.trace_hash();
  for (std::uint32_t self = 0; out.failure.empty() && self < one.members.size(); ++self) {
    out.failure = compare_memory(one, self, network.memory(self));
    if (out.failure.empty()) out.failure = compare_work(one, self, network.work(self));
  }
  return out;
}

}  // namespace troupe::sim
