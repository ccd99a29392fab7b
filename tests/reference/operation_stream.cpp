#include "tests/reference/operation_stream.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "runtime/random.hpp"
#include "tests/reference/element_reference.hpp"

namespace troupe::reference {

namespace {

constexpr std::byte untouched{0xcd};

constexpr std::array kinds{
    operation_kind::all_reduce, operation_kind::all_gather,  operation_kind::reduce_scatter,
    operation_kind::broadcast,  operation_kind::send,        operation_kind::barrier,
    operation_kind::reduce,     operation_kind::gather,      operation_kind::scatter,
    operation_kind::all_to_all, operation_kind::all_to_all_v};

constexpr std::array scalars{1.0, 2.0, -0.5, 0.3, 3.0};

std::vector<algorithm> algorithms_of(operation_kind kind) {
  switch (kind) {
    case operation_kind::all_reduce:
      return {algorithm::ring, algorithm::recursive_doubling, algorithm::recursive_halving,
              algorithm::binomial_tree, algorithm::ftar};
    case operation_kind::all_gather:
      return {algorithm::ring, algorithm::direct, algorithm::bruck, algorithm::binary_tree};
    case operation_kind::reduce_scatter: return {algorithm::ring, algorithm::direct};
    case operation_kind::broadcast:
    case operation_kind::reduce: return {algorithm::binomial_tree, algorithm::chain};
    default: return {};
  }
}

std::uint64_t draw_code(data_type type, random_stream& random, std::uint64_t flavour) {
  const std::uint64_t bits = random.next() >> (64 - 8 * size_of(type));
  if (!is_floating(type) || flavour == 0) return bits;
  if (flavour == 1) return encode(type, static_cast<double>(random.below(9)) - 4);
  if (random.one_in(12)) return bits;
  return encode(type, static_cast<double>(random.below(2000)) / 64 - 15);
}

stream_operation draw_operation(random_stream& random, const stream_wishes& wishes) {
  stream_operation out;
  out.kind = kinds[random.below(kinds.size())];
  out.type = static_cast<data_type>(random.below(data_type_count));
  out.op = static_cast<reduction>(random.below(reduction_count));
  const std::uint64_t most = random.one_in(3) ? 20 : wishes.count_max;
  out.count = random.one_in(12) ? 0 : random.below(most + 1);
  out.communicator = static_cast<std::uint32_t>(random.below(wishes.communicator_count));
  out.root = static_cast<std::uint32_t>(random.below(1u << 20));
  out.peer = static_cast<std::uint32_t>(random.below(1u << 20));
  out.in_place = random.one_in(2);
  out.algorithm = random.one_in(2) ? 0 : static_cast<std::uint32_t>(random.between(1, 6));
  out.seed = random.next();
  if (out.kind == operation_kind::barrier) out.count = 0;
  return out;
}

/// Counts of every pair, a third of them zero; blocks of a rank in any order, with gaps.
std::vector<std::vector<collectives::peer_block>> draw_blocks(const stream_operation& what,
                                                              std::uint32_t size) {
  random_stream random(what.seed ^ 0xb10c);
  const std::uint64_t element = size_of(what.type);
  std::vector<std::vector<collectives::peer_block>> out(size,
                                                        std::vector<collectives::peer_block>(size));
  for (std::uint32_t from = 0; from < size; ++from)
    for (std::uint32_t to = 0; to < size; ++to)
      out[from][to].send_bytes = out[to][from].receive_bytes =
          random.one_in(3) ? 0 : random.below(what.count + 1) * element;
  for (auto& blocks : out) {
    std::uint64_t send = 0, receive = 0;
    const std::uint64_t turn = random.below(size);
    for (std::uint32_t i = 0; i < size; ++i) {
      auto& sent = blocks[(i + turn) % size];
      sent.send_offset = send += random.below(3) * element;
      send += sent.send_bytes;
      auto& received = blocks[(2 * size - i - turn) % size];
      received.receive_offset = receive += random.below(3) * element;
      receive += received.receive_bytes;
    }
  }
  return out;
}

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

}  // namespace

std::string describe(const stream_operation& one) {
  return to_string(operation_signature{one.kind, one.type, one.op, one.root, one.count}) +
         (one.in_place ? " in place" : "") + ", algorithm " + std::to_string(one.algorithm) +
         ", communicator " + std::to_string(one.communicator);
}

std::vector<stream_batch> draw_stream(std::uint64_t seed, const stream_wishes& wishes) {
  random_stream random(seed);
  std::vector<stream_batch> out(wishes.batch_count);
  for (stream_batch& batch : out) {
    batch.grouped = random.one_in(3);
    const std::uint64_t operations = random.between(1, 6);
    for (std::uint64_t i = 0; i < operations; ++i)
      batch.operations.push_back(draw_operation(random, wishes));
  }
  return out;
}

// -- one member's side ----------------------------------------------------------------------------

stream_part::stream_part(const stream_operation& what, std::uint32_t self, std::uint32_t size)
    : what_(what), self_(self), size_(size) {
  what_.root %= size;
  what_.peer %= size;
  if (!may_be_in_place(what.kind)) what_.in_place = false;
  reference_.signature = {what_.kind, what_.type, what_.op, what_.root, what_.count};
  if (what_.kind == operation_kind::all_to_all_v) {
    reference_.blocks = draw_blocks(what_, size);
    reference_.signature.count = 0;
  }
  for (std::uint32_t member = 0; member < size; ++member)
    reference_.scalars.push_back(scalars[(what.seed + member) % scalars.size()]);
  draw_inputs();
  lay_out();
}

bool stream_part::has_input(std::uint32_t member) const {
  switch (what_.kind) {
    case operation_kind::barrier: return false;
    case operation_kind::broadcast:
    case operation_kind::send:
    case operation_kind::scatter: return member == what_.root;
    default: return true;
  }
}

std::uint64_t stream_part::input_count(std::uint32_t member) const {
  if (!has_input(member)) return 0;
  switch (what_.kind) {
    case operation_kind::reduce_scatter:
    case operation_kind::scatter:
    case operation_kind::all_to_all: return what_.count * size_;
    case operation_kind::all_to_all_v: {
      std::uint64_t bytes = 0;
      for (const auto& block : reference_.blocks[member])
        bytes = std::max(bytes, block.send_offset + block.send_bytes);
      return bytes / size_of(what_.type);
    }
    default: return what_.count;
  }
}

void stream_part::draw_inputs() {
  for (std::uint32_t member = 0; member < size_; ++member) {
    random_stream random(what_.seed + member * 0x9e37'79b9ull);
    const std::uint64_t flavour = random.below(3);
    std::vector<std::byte> input(input_count(member) * size_of(what_.type));
    for (std::uint64_t i = 0; i < input_count(member); ++i)
      write_element(what_.type, input.data(), i, draw_code(what_.type, random, flavour));
    reference_.inputs.push_back(std::move(input));
  }
}

/// Buffers at odd places with guards around them, one in the other where that is the in-place form.
void stream_part::lay_out() {
  random_stream random(what_.seed ^ (self_ * 77 + 5));
  const std::uint64_t block = what_.count * size_of(what_.type);
  const operation_kind kind = what_.kind;
  const bool rooted_output = kind == operation_kind::reduce || kind == operation_kind::gather;
  const bool gathers = kind == operation_kind::all_gather || kind == operation_kind::gather;
  const bool scatters = kind == operation_kind::reduce_scatter || kind == operation_kind::scatter;
  send_bytes_ = kind == operation_kind::broadcast ? 0 : reference_.inputs[self_].size();
  receive_bytes_ = gathers || kind == operation_kind::all_to_all ? block * size_ : block;
  if (rooted_output && !is_root()) receive_bytes_ = 0;
  if (kind == operation_kind::barrier) receive_bytes_ = 0;
  if (kind == operation_kind::send && self_ != what_.peer) receive_bytes_ = 0;
  if (kind == operation_kind::all_to_all_v) {
    receive_bytes_ = 0;
    for (const auto& one : reference_.blocks[self_])
      receive_bytes_ = std::max(receive_bytes_, one.receive_offset + one.receive_bytes);
  }
  send_offset_ = random.between(1, 16);
  receive_offset_ = send_offset_ + send_bytes_ + random.between(1, 16);
  if (what_.in_place && send_bytes_ != 0 && receive_bytes_ != 0) {
    receive_offset_ = send_offset_;
    if (gathers) send_offset_ += self_ * block;
    if (scatters) receive_offset_ += self_ * block;
  }
  const std::uint64_t end = std::max(send_offset_ + send_bytes_, receive_offset_ + receive_bytes_);
  memory_.assign(end + random.between(1, 16), untouched);
  const auto& input = reference_.inputs[self_];
  if (!input.empty())
    std::memcpy(kind == operation_kind::broadcast ? receive() : send(), input.data(), input.size());
  before_ = memory_;
}

operation_options stream_part::options(group* in) const {
  operation_options out;
  out.timeout = std::chrono::seconds(60);
  out.group = in;
  const auto all = algorithms_of(what_.kind);
  if (what_.algorithm != 0 && !all.empty()) out.algorithm = all[(what_.algorithm - 1) % all.size()];
  return out;
}

outcome<void> stream_part::start(communicator& on, group* in) {
  const auto take = [&](outcome<work_handle> work) -> outcome<void> {
    if (!work) return fail(work.error());
    works_.push_back(std::move(*work));
    return {};
  };
  if (what_.kind != operation_kind::send) return take(call(on, in));
  const bool receive_first = what_.seed % 2 != 0;
  for (const bool receives : {receive_first, !receive_first}) {
    outcome<void> started;
    if (receives && self_ == what_.peer)
      started =
          take(on.receive({receive(), what_.count, what_.type, rank{what_.root}, options(in)}));
    if (!receives && is_root())
      started = take(on.send({send(), what_.count, what_.type, rank{what_.peer}, options(in)}));
    if (!started) return started;
  }
  return {};
}

outcome<work_handle> stream_part::call(communicator& on, group* in) {
  const auto how = options(in);
  const auto count = what_.count;
  const auto type = what_.type;
  const auto op = what_.op;
  const double scalar = reference_.scalars[self_];
  const rank root{what_.root};
  switch (what_.kind) {
    case operation_kind::all_reduce:
      return on.all_reduce({send(), receive(), count, type, op, scalar, how});
    case operation_kind::all_gather: return on.all_gather({send(), receive(), count, type, how});
    case operation_kind::reduce_scatter:
      return on.reduce_scatter({send(), receive(), count, type, op, scalar, how});
    case operation_kind::broadcast: return on.broadcast({receive(), count, type, root, how});
    case operation_kind::reduce:
      return on.reduce(
          {send(), is_root() ? receive() : nullptr, count, type, op, scalar, root, how});
    case operation_kind::gather:
      return on.gather({send(), is_root() ? receive() : nullptr, count, type, root, how});
    case operation_kind::scatter:
      return on.scatter({is_root() ? send() : nullptr, receive(), count, type, root, how});
    case operation_kind::all_to_all: return on.all_to_all({send(), receive(), count, type, how});
    case operation_kind::all_to_all_v: return exchange(on, how);
    default: return on.barrier(how);
  }
}

outcome<work_handle> stream_part::exchange(communicator& on, const operation_options& how) {
  all_to_all_v_arguments a;
  a.send = send();
  a.receive = receive();
  a.type = what_.type;
  a.options = how;
  const std::uint64_t element = size_of(what_.type);
  for (const auto& block : reference_.blocks[self_]) {
    a.send_counts.push_back(block.send_bytes / element);
    a.send_offsets.push_back(block.send_offset / element);
    a.receive_counts.push_back(block.receive_bytes / element);
    a.receive_offsets.push_back(block.receive_offset / element);
  }
  return on.all_to_all_v(a);
}

std::string stream_part::check() const {
  collective_call expected_call = reference_;
  for (const work_handle& one : works_) {
    if (one->error().code() != errc::ok) return to_string(one->error());
    expected_call.algorithm = one->path().algorithm;
  }
  if (what_.kind == operation_kind::send) expected_call.signature.kind = operation_kind::receive;
  std::vector<std::byte> expected = before_;
  if (receive_bytes_ != 0)
    place_expected_output(expected_call, self_,
                          std::span(expected).subspan(receive_offset_, receive_bytes_));
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    if (memory_[i] == expected[i]) continue;
    const bool inside = i >= receive_offset_ && i < receive_offset_ + receive_bytes_;
    return "byte " + std::to_string(i - receive_offset_) +
           (inside ? " of the output is wrong" : " from the output was touched") + ", by " +
           (works_.empty() ? "nobody" : to_string(works_.back()->path()));
  }
  return {};
}

}  // namespace troupe::reference
