#include <cuda_runtime_api.h>

#include <algorithm>

#include "kernels/detail/cuda_status.hpp"
#include "kernels/detail/flag_batch.hpp"
#include "kernels/detail/native_stream.hpp"
#include "kernels/device/device.hpp"
#include "kernels/domain/detail/copy_operations.hpp"

namespace troupe::kernels::detail {

namespace {

bool contains(const std::vector<std::uint32_t>& ranks, std::uint32_t rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

/// Peers that write to this member and get nothing.
std::vector<std::uint32_t> only_incoming(const copy_plan& plan) {
  std::vector<std::uint32_t> peers;
  for (const auto peer : plan.incoming)
    if (std::none_of(plan.outgoing.begin(), plan.outgoing.end(),
                     [&](const outgoing_copy& copy) { return copy.peer == peer; }))
      peers.push_back(peer);
  return peers;
}

}  // namespace

outcome<copy_operations> copy_operations::create(int device, std::uint32_t rank,
                                                 host_board& board) {
  copy_operations made;
  auto calls = driver_calls::load();
  if (!calls) return fail(calls.error());
  made.calls_ = *calls;
  made.board_ = &board;
  made.rank_ = rank;
  auto recording = stream::create(device);
  if (!recording) return fail(recording.error());
  made.recording_ = std::move(*recording);
  return made;
}

outcome<void> copy_operations::start(stream_ref in, const copy_plan& plan) {
  const device_scope current(in.device);
  while (beside_.size() + 1 < plan.outgoing.size()) {
    auto another = stream::create(in.device);
    if (!another) return fail(another.error());
    beside_.push_back(std::move(*another));
  }
  const auto captured = is_capturing(in);
  if (!captured) return fail(named(captured.error(), "asking a stream whether it is captured"));
  result<void> done;
  if (*captured) {
    stream_recorder captured_streams(calls_);
    done = enqueue(captured_streams, in, plan);
  } else {
    const auto ready = graphs_.find_or_make(plan, calls_, recording_.ref(), [&](recorder& to) {
      return enqueue(to, recording_.ref(), plan);
    });
    if (!ready) return fail(ready.error());
    done = (*ready)->launch(in);
  }
  if (!done) return fail(named(done.error(), "starting copies between GPUs"));
  return {};
}

result<void> copy_operations::enqueue_copy(recorder& to, stream_ref in, const outgoing_copy& copy,
                                           bool is_exchange) {
  const bool leaves = copy.peer != rank_;
  flag_batch flags;
  if (is_exchange) flags.set(&board_->ready[rank_][copy.peer], 1);
  if (leaves) flags.take(&board_->ready[copy.peer][rank_]);
  auto done = to.flags(in, flags);
  if (done && copy.bytes > 0) done = to.copy(in, copy.to, copy.from, copy.bytes);
  if (leaves) flags.set(&board_->landed[rank_][copy.peer], 1);
  if (is_exchange) flags.take(&board_->landed[copy.peer][rank_]);
  return done ? to.flags(in, flags) : done;
}

result<void> copy_operations::enqueue(recorder& to, stream_ref in, const copy_plan& plan) {
  const auto waiting = only_incoming(plan);
  flag_batch flags;
  for (const auto peer : waiting)
    flags.set(&board_->ready[rank_][peer], 1);
  auto done = to.flags(in, flags);
  // The first copy goes on in the stream itself: what forks from it has to be joined again.
  for (std::size_t i = 1; i < plan.outgoing.size() && done; ++i)
    done = to.order(in, beside_[i - 1].ref());
  for (std::size_t i = 0; i < plan.outgoing.size() && done; ++i)
    done = enqueue_copy(to, i == 0 ? in : beside_[i - 1].ref(), plan.outgoing[i],
                        contains(plan.incoming, plan.outgoing[i].peer));
  for (std::size_t i = 1; i < plan.outgoing.size() && done; ++i)
    done = to.order(beside_[i - 1].ref(), in);
  for (const auto peer : waiting)
    flags.take(&board_->landed[peer][rank_]);
  return done ? to.flags(in, flags) : done;
}

}  // namespace troupe::kernels::detail
