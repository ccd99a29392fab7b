#include "kernels/detail/recorder.hpp"

#include <cuda.h>

#include <algorithm>

#include "kernels/detail/cuda_status.hpp"
#include "kernels/detail/native_stream.hpp"
#include "kernels/device/device.hpp"

namespace troupe::kernels::detail {

namespace {

result<void> checked_driver(CUresult status) {
  if (status == CUDA_SUCCESS) return {};
  return fail(errc::system_failure, static_cast<std::int32_t>(status));
}

}  // namespace

result<void> stream_recorder::flags(stream_ref part, flag_batch& steps) {
  if (steps.empty()) return {};
  const auto status = calls_->batch(native(part), steps.size(), steps.data(), 0);
  steps.clear();
  return checked_driver(status);
}

result<void> stream_recorder::copy(stream_ref part, void* to, const void* from, std::size_t bytes) {
  return checked(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, native(part)));
}

result<void> stream_recorder::launch(stream_ref part, const kernel_launch& what) {
  void* arguments[] = {what.task};
  return checked(cudaLaunchKernel(what.kernel, dim3(what.blocks), dim3(what.threads), arguments, 0,
                                  native(part)));
}

result<void> stream_recorder::order(stream_ref earlier, stream_ref later) {
  return kernels::order(earlier, later);
}

graph_recorder::graph_recorder(const driver_calls& calls, int device)
    : calls_(&calls), device_(device) {
  static_cast<void>(cudaGraphCreate(&graph_, 0));
}

graph_recorder::~graph_recorder() {
  if (graph_ != nullptr) static_cast<void>(cudaGraphDestroy(graph_));
}

graph_recorder::nodes& graph_recorder::last_of(stream_ref part) {
  for (auto& [name, last] : parts_)
    if (name == part.native) return last;
  parts_.emplace_back(part.native, nodes{});
  return parts_.back().second;
}

result<void> graph_recorder::added(stream_ref part, cudaGraphNode_t node) {
  last_of(part) = {node};
  return {};
}

result<void> graph_recorder::flags(stream_ref part, flag_batch& steps) {
  if (steps.empty()) return {};
  CUcontext context = nullptr;
  if (auto done = checked_driver(calls_->current_context(&context)); !done) return done;
  CUDA_BATCH_MEM_OP_NODE_PARAMS what{};
  what.ctx = context;
  what.count = steps.size();
  what.paramArray = steps.data();
  const auto& after = last_of(part);
  CUgraphNode node = nullptr;
  const auto status = calls_->add_batch(&node, graph_, after.data(), after.size(), &what);
  steps.clear();
  if (auto done = checked_driver(status); !done) return done;
  return added(part, node);
}

result<void> graph_recorder::copy(stream_ref part, void* to, const void* from, std::size_t bytes) {
  const auto& after = last_of(part);
  cudaGraphNode_t node = nullptr;
  if (auto done = checked(cudaGraphAddMemcpyNode1D(&node, graph_, after.data(), after.size(), to,
                                                   from, bytes, cudaMemcpyDefault));
      !done)
    return done;
  return added(part, node);
}

result<void> graph_recorder::launch(stream_ref part, const kernel_launch& what) {
  void* arguments[] = {what.task};
  cudaKernelNodeParams how{};
  how.func = const_cast<void*>(what.kernel);
  how.gridDim = dim3(what.blocks);
  how.blockDim = dim3(what.threads);
  how.kernelParams = arguments;
  const auto& after = last_of(part);
  cudaGraphNode_t node = nullptr;
  auto done = checked(cudaGraphAddKernelNode(&node, graph_, after.data(), after.size(), &how));
  int least = 0;
  cudaKernelNodeAttrValue attribute{};
  if (done) done = checked(cudaDeviceGetStreamPriorityRange(&least, &attribute.priority));
  if (done)
    done =
        checked(cudaGraphKernelNodeSetAttribute(node, cudaKernelNodeAttributePriority, &attribute));
  return done ? added(part, node) : done;
}

result<void> graph_recorder::order(stream_ref earlier, stream_ref later) {
  if (earlier == later) return {};
  const nodes before = last_of(earlier);
  auto& after = last_of(later);
  // A part that got nothing of its own still ends where it forked; CUDA refuses a node twice.
  for (const auto node : before)
    if (std::find(after.begin(), after.end(), node) == after.end()) after.push_back(node);
  return {};
}

outcome<graph> graph_recorder::finish(stream_ref upload) {
  const device_scope current(device_);
  return graph::from(graph_, upload);
}

}  // namespace troupe::kernels::detail
