#include <cuda.h>
#include <cuda_runtime_api.h>

#include <string>

#include "kernels/detail/cuda_status.hpp"
#include "kernels/detail/native_stream.hpp"
#include "kernels/device/device.hpp"
#include "kernels/domain/detail/copy_operations.hpp"

namespace troupe::kernels::detail {

namespace {

/// Graphs that are kept. A trainer repeats a few dozen buffers; each graph is some kilobytes.
constexpr std::size_t kept_graphs_max = 64;

result<void> checked_driver(CUresult status) {
  if (status == CUDA_SUCCESS) return {};
  return fail(errc::system_failure, static_cast<std::int32_t>(status));
}

CUdeviceptr address_of(host_board::flag& flag) {
  return reinterpret_cast<CUdeviceptr>(&flag.value);
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
  while (copying_.size() < plan.outgoing.size()) {
    auto another = stream::create(in.device);
    if (!another) return fail(another.error());
    copying_.push_back(std::move(*another));
  }
  const auto captured = is_capturing(in);
  if (!captured) return fail(failure(captured.error(), "asking a stream whether it is captured"));
  result<void> done;
  if (*captured) {
    done = enqueue(in, plan);
  } else {
    const auto ready = graph_of(plan);
    if (!ready) return fail(ready.error());
    done = (*ready)->launch(in);
  }
  if (!done) return fail(failure(done.error(), "starting copies between GPUs"));
  return {};
}

outcome<const graph*> copy_operations::graph_of(const copy_plan& plan) {
  for (auto at = kept_.begin(); at != kept_.end(); ++at)
    if (at->plan == plan) {
      kept_.splice(kept_.begin(), kept_, at);
      return &kept_.front().ready;
    }
  auto made = graph::capture(recording_, [&]() -> outcome<void> {
    auto done = enqueue(recording_.ref(), plan);
    if (!done) return fail(failure(done.error(), "capturing copies between GPUs"));
    return {};
  });
  if (!made) return fail(made.error());
  if (kept_.size() == kept_graphs_max) kept_.pop_back();
  kept_.push_front({plan, std::move(*made)});
  return &kept_.front().ready;
}

result<void> copy_operations::wait_for(stream_ref in, host_board::flag& flag) {
  return checked_driver(
      calls_.wait_value(native(in), address_of(flag), 1, CU_STREAM_WAIT_VALUE_GEQ));
}

result<void> copy_operations::set(stream_ref in, host_board::flag& flag, std::uint32_t value) {
  return checked_driver(
      calls_.write_value(native(in), address_of(flag), value, CU_STREAM_WRITE_VALUE_DEFAULT));
}

result<void> copy_operations::enqueue_copy(stream_ref in, const outgoing_copy& copy) {
  const bool leaves = copy.peer != rank_;
  auto& ready = board_->ready[copy.peer][rank_];
  result<void> done;
  if (leaves) done = wait_for(in, ready);
  if (leaves && done) done = set(in, ready, 0);
  if (done && copy.bytes > 0)
    done = checked(cudaMemcpyAsync(copy.to, copy.from, copy.bytes, cudaMemcpyDefault, native(in)));
  if (leaves && done) done = set(in, board_->landed[rank_][copy.peer], 1);
  return done;
}

result<void> copy_operations::enqueue(stream_ref in, const copy_plan& plan) {
  result<void> done;
  for (const auto peer : plan.incoming)
    if (done) done = set(in, board_->ready[rank_][peer], 1);
  for (std::size_t i = 0; i < plan.outgoing.size(); ++i) {
    const auto beside = copying_[i].ref();
    if (done) done = order(in, beside);
    if (done) done = enqueue_copy(beside, plan.outgoing[i]);
  }
  for (std::size_t i = 0; i < plan.outgoing.size(); ++i)
    if (done) done = order(copying_[i].ref(), in);
  for (const auto peer : plan.incoming) {
    auto& landed = board_->landed[peer][rank_];
    if (done) done = wait_for(in, landed);
    if (done) done = set(in, landed, 0);
  }
  return done;
}

}  // namespace troupe::kernels::detail
