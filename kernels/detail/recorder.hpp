#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "kernels/detail/driver_calls.hpp"
#include "kernels/detail/flag_batch.hpp"
#include "kernels/device/stream.hpp"
#include "kernels/stream_ref.hpp"
#include "runtime/result.hpp"

namespace troupe::kernels::detail {

struct kernel_launch {
  const void* kernel = nullptr;
  std::uint32_t blocks = 0;
  std::uint32_t threads = 0;
  void* task = nullptr;  ///< the one argument, copied
};

/// Where the parts of an operation go: streams that the caller is capturing, or a graph that is
/// made node by node. What is put into one part happens in that order; `order` joins parts.
class recorder {
 public:
  virtual ~recorder() = default;

  /// Takes the steps out of the batch. No steps are nothing.
  virtual result<void> flags(stream_ref part, flag_batch& steps) = 0;
  virtual result<void> copy(stream_ref part, void* to, const void* from, std::size_t bytes) = 0;
  virtual result<void> launch(stream_ref part, const kernel_launch& what) = 0;
  /// What comes into `later` from now on waits for all that is in `earlier` now.
  virtual result<void> order(stream_ref earlier, stream_ref later) = 0;
};

/// Into the streams themselves.
class stream_recorder : public recorder {
 public:
  explicit stream_recorder(const driver_calls& calls) : calls_(&calls) {}

  result<void> flags(stream_ref part, flag_batch& steps) override;
  result<void> copy(stream_ref part, void* to, const void* from, std::size_t bytes) override;
  result<void> launch(stream_ref part, const kernel_launch& what) override;
  result<void> order(stream_ref earlier, stream_ref later) override;

 private:
  const driver_calls* calls_;
};

/// Into a graph of our own. Streams only name the parts: nothing is captured, as another thread
/// that loads a kernel or waits for the GPU invalidates a capture, whatever its mode, and one that
/// does nothing else invalidates each.
class graph_recorder : public recorder {
 public:
  /// Kernels get the highest priority: nodes take none from a part.
  graph_recorder(const driver_calls& calls, int device);
  ~graph_recorder() override;
  graph_recorder(const graph_recorder&) = delete;
  graph_recorder& operator=(const graph_recorder&) = delete;

  result<void> flags(stream_ref part, flag_batch& steps) override;
  result<void> copy(stream_ref part, void* to, const void* from, std::size_t bytes) override;
  result<void> launch(stream_ref part, const kernel_launch& what) override;
  result<void> order(stream_ref earlier, stream_ref later) override;

  /// All that was recorded, ready to launch.
  outcome<graph> finish(stream_ref upload);

 private:
  using nodes = std::vector<cudaGraphNode_t>;

  /// The nodes that the next one of a part waits for.
  nodes& last_of(stream_ref part);
  result<void> added(stream_ref part, cudaGraphNode_t node);

  const driver_calls* calls_;
  int device_ = 0;
  cudaGraph_t graph_ = nullptr;
  std::vector<std::pair<void*, nodes>> parts_;
};

}  // namespace troupe::kernels::detail
