#include "runtime/cli/bench_call.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/cli/bench_data.hpp"

namespace troupe::cli {
namespace {

/// What an output holds before a checked call.
constexpr std::byte untouched{0xa5};

/// Names the data of the block that one rank sends another.
rank block_name(std::uint32_t rank_count, std::uint32_t from, std::uint32_t to) {
  return rank{from * rank_count + to};
}

}  // namespace

bool has_in_place_half(bench_kind kind) {
  switch (kind) {
    case bench_kind::sendrecv:
    case bench_kind::barrier:
    case bench_kind::all_to_all:
    case bench_kind::all_to_all_v: return false;
    default: return true;
  }
}

std::uint64_t pair_count(std::uint64_t count, std::uint32_t rank_count, std::uint32_t from,
                         std::uint32_t to) {
  if (rank_count == 1) return count;
  return 2 * ((from + to) % rank_count) * count / (rank_count - 1);
}

void bench_caller::reserve(const bench_shape& shape) {
  a_.resize(std::max<std::size_t>(a_.size(), shape.send_bytes));
  b_.resize(std::max<std::size_t>(b_.size(), shape.receive_bytes));
}

outcome<void> bench_caller::wait_for(outcome<work_handle> work) {
  if (!work) return fail(std::move(work.error()));
  auto done = (*work)->wait();
  path_ = (*work)->path();
  return done;
}

call_buffers bench_caller::buffers_of(const bench_shape& shape, bench_half half) {
  const std::span<std::byte> a(a_.data(), shape.send_bytes);
  const std::span<std::byte> b(b_.data(), shape.receive_bytes);
  if (half == bench_half::out_of_place) return {a, b};
  const std::uint64_t mine = std::min(shape.send_bytes, shape.receive_bytes) * me();
  switch (heading_.kind) {
    case bench_kind::all_gather:
    case bench_kind::gather: return {b.subspan(mine, shape.send_bytes), b};
    case bench_kind::reduce_scatter:
    case bench_kind::scatter: return {a, a.subspan(mine, shape.receive_bytes)};
    default: return {b, b};
  }
}

outcome<work_handle> bench_caller::start(const call_buffers& buffers, std::uint64_t count) {
  const data_type type = heading_.type;
  const reduction op = heading_.op;
  const operation_options how{.timeout = {}, .algorithm = wanted_};
  const rank root{heading_.root};
  const reduction_data scalars({type, op, 1, 0});
  const double scalar = op == reduction::premultiplied_sum ? scalars.scalar_of(world_.rank()) : 1.0;
  const void* send = buffers.send.data();
  void* receive = buffers.receive.data();
  switch (heading_.kind) {
    case bench_kind::all_reduce:
      return world_.all_reduce({send, receive, count, type, op, scalar, how});
    case bench_kind::all_gather: return world_.all_gather({send, receive, count, type, how});
    case bench_kind::reduce_scatter:
      return world_.reduce_scatter({send, receive, count, type, op, scalar, how});
    case bench_kind::broadcast:
      // The call has one buffer; out of place, the root brings its data there first.
      if (send != receive && is_root()) std::memcpy(receive, send, buffers.receive.size());
      return world_.broadcast({receive, count, type, root, how});
    case bench_kind::reduce:
      return world_.reduce({send, receive, count, type, op, scalar, root, how});
    case bench_kind::gather: return world_.gather({send, receive, count, type, root, how});
    case bench_kind::scatter: return world_.scatter({send, receive, count, type, root, how});
    case bench_kind::all_to_all: return world_.all_to_all({send, receive, count, type, how});
    case bench_kind::all_to_all_v: return start_all_to_all_v(buffers, count);
    case bench_kind::barrier: return world_.barrier(how);
    case bench_kind::sendrecv: break;
  }
  return fail(errc::internal_failure, "a collective without a call");
}

outcome<work_handle> bench_caller::start_all_to_all_v(const call_buffers& buffers,
                                                      std::uint64_t count) {
  all_to_all_v_arguments a;
  a.send = buffers.send.data();
  a.receive = buffers.receive.data();
  a.type = heading_.type;
  a.options.algorithm = wanted_;
  const std::uint32_t n = world_.size();
  std::uint64_t sent = 0, received = 0;
  for (std::uint32_t p = 0; p < n; ++p) {
    a.send_counts.push_back(pair_count(count, n, me(), p));
    a.receive_counts.push_back(pair_count(count, n, p, me()));
    a.send_offsets.push_back(sent);
    a.receive_offsets.push_back(received);
    sent += a.send_counts.back();
    received += a.receive_counts.back();
  }
  return world_.all_to_all_v(a);
}

outcome<void> bench_caller::exchange(const call_buffers& buffers, std::uint64_t count) {
  const std::uint32_t n = world_.size();
  auto received =
      world_.receive({buffers.receive.data(), count, heading_.type, rank{(me() + n - 1) % n}, {}});
  auto sent = world_.send({buffers.send.data(), count, heading_.type, rank{(me() + 1) % n}, {}});
  auto done = wait_for(std::move(sent));
  return done ? wait_for(std::move(received)) : done;
}

outcome<void> bench_caller::call(const bench_shape& shape, bench_half half) {
  const call_buffers buffers = buffers_of(shape, half);
  if (heading_.kind == bench_kind::sendrecv) return exchange(buffers, shape.count);
  return wait_for(start(buffers, shape.count));
}

// -- the check ------------------------------------------------------------------------------------

outcome<std::uint64_t> bench_caller::check(const bench_shape& shape, bench_half half,
                                           std::uint64_t seed) {
  const call_buffers buffers = buffers_of(shape, half);
  std::fill(buffers.receive.begin(), buffers.receive.end(), untouched);
  fill(buffers, seed);
  fill_blocks(buffers, shape.count, seed);
  if (auto done = call(shape, half); !done) return fail(std::move(done.error()));
  return compare(buffers, shape, half, seed);
}

void bench_caller::fill(const call_buffers& buffers, std::uint64_t seed) {
  switch (heading_.kind) {
    case bench_kind::all_reduce:
    case bench_kind::reduce_scatter:
    case bench_kind::reduce:
      reduction_data({heading_.type, heading_.op, world_.size(), seed})
          .fill_input(buffers.send, world_.rank(), 0);
      return;
    case bench_kind::broadcast:
      if (is_root()) fill_moved(buffers.send, seed, world_.rank());
      return;
    case bench_kind::all_gather:
    case bench_kind::gather:
    case bench_kind::sendrecv: fill_moved(buffers.send, seed, world_.rank()); return;
    default: return;
  }
}

/// Inputs that have a block for each rank.
void bench_caller::fill_blocks(const call_buffers& buffers, std::uint64_t count,
                               std::uint64_t seed) {
  const bool scatters = heading_.kind == bench_kind::scatter && is_root();
  const bool varies = heading_.kind == bench_kind::all_to_all_v;
  if (!scatters && !varies && heading_.kind != bench_kind::all_to_all) return;
  const std::uint32_t n = world_.size();
  std::uint64_t offset = 0;
  for (std::uint32_t to = 0; to < n; ++to) {
    const std::uint64_t elements = varies ? pair_count(count, n, me(), to) : count;
    const std::uint64_t bytes = elements * element_bytes();
    fill_moved(buffers.send.subspan(offset, bytes), seed, block_name(n, me(), to));
    offset += bytes;
  }
}

std::uint64_t bench_caller::compare(const call_buffers& buffers, const bench_shape& shape,
                                    bench_half half, std::uint64_t seed) const {
  const bool to_root_alone =
      heading_.kind == bench_kind::reduce || heading_.kind == bench_kind::gather;
  if (to_root_alone && !is_root())
    return half == bench_half::in_place ? 0 : count_touched(buffers.receive);
  if (!reduces(heading_.kind)) return compare_moved(buffers, shape.count, seed);
  const reduction_data data({heading_.type, heading_.op, world_.size(), seed});
  const bool scattered = heading_.kind == bench_kind::reduce_scatter;
  return data.count_wrong(buffers.receive, scattered ? shape.count * me() : 0);
}

std::uint64_t bench_caller::compare_moved(const call_buffers& buffers, std::uint64_t count,
                                          std::uint64_t seed) const {
  const std::uint32_t n = world_.size();
  const auto wrong_in = [&](std::span<const std::byte> found, rank source) {
    return count_wrong_moved(found, seed, source, element_bytes());
  };
  switch (heading_.kind) {
    case bench_kind::broadcast: return wrong_in(buffers.receive, rank{heading_.root});
    case bench_kind::sendrecv: return wrong_in(buffers.receive, rank{(me() + n - 1) % n});
    case bench_kind::scatter: return wrong_in(buffers.receive, block_name(n, heading_.root, me()));
    default: break;
  }
  const bool gathers =
      heading_.kind == bench_kind::all_gather || heading_.kind == bench_kind::gather;
  const bool varies = heading_.kind == bench_kind::all_to_all_v;
  std::uint64_t wrong = 0, offset = 0;
  for (std::uint32_t from = 0; from < n; ++from) {
    const std::uint64_t elements = varies ? pair_count(count, n, from, me()) : count;
    const std::uint64_t bytes = elements * element_bytes();
    wrong += wrong_in(buffers.receive.subspan(offset, bytes),
                      gathers ? rank{from} : block_name(n, from, me()));
    offset += bytes;
  }
  return wrong + count_touched(buffers.receive.subspan(offset));
}

std::uint64_t bench_caller::count_touched(std::span<const std::byte> bytes) const {
  std::uint64_t touched = 0;
  for (std::uint64_t at = 0; at + element_bytes() <= bytes.size(); at += element_bytes()) {
    const auto one = bytes.subspan(at, element_bytes());
    touched += std::any_of(one.begin(), one.end(), [](std::byte b) { return b != untouched; });
  }
  return touched;
}

}  // namespace troupe::cli
