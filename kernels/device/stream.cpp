#include "kernels/device/stream.hpp"

#include <string>

#include "kernels/detail/cuda_status.hpp"
#include "kernels/detail/native_stream.hpp"
#include "kernels/device/device.hpp"

namespace troupe::kernels {

using detail::checked;
using detail::native;

outcome<stream> stream::create(int device, stream_priority priority) {
  const device_scope current(device);
  int least = 0;
  int greatest = 0;
  const auto what = "creating a stream on GPU " + std::to_string(device);
  if (auto done = checked(cudaDeviceGetStreamPriorityRange(&least, &greatest), what); !done)
    return fail(done.error());
  cudaStream_t made = nullptr;
  const int level = priority == stream_priority::high ? greatest : least;
  if (auto done = checked(cudaStreamCreateWithPriority(&made, cudaStreamNonBlocking, level), what);
      !done)
    return fail(done.error());
  stream owner;
  owner.ref_ = {.native = made, .device = device};
  return owner;
}

stream& stream::operator=(stream&& other) noexcept {
  if (this == &other) return *this;
  reset();
  ref_ = std::exchange(other.ref_, {});
  return *this;
}

void stream::reset() {
  if (ref_.native != nullptr) static_cast<void>(cudaStreamDestroy(native(ref_)));
  ref_ = {};
}

outcome<void> stream::wait() const {
  return checked(cudaStreamSynchronize(native(ref_)),
                 "waiting for a stream of GPU " + std::to_string(ref_.device));
}

outcome<bool> stream::idle() const {
  const auto status = cudaStreamQuery(native(ref_));
  if (status == cudaErrorNotReady) {
    static_cast<void>(cudaGetLastError());
    return false;
  }
  if (auto done = checked(status, "asking a stream of GPU " + std::to_string(ref_.device)); !done)
    return fail(done.error());
  return true;
}

outcome<void> stream::after(stream_ref other) const {
  if (auto done = order(other, ref_); !done)
    return fail(failure(done.error(), "ordering two streams"));
  return {};
}

result<void> order(stream_ref earlier, stream_ref later) {
  if (earlier == later) return {};
  const device_scope current(earlier.device);
  cudaEvent_t point = nullptr;
  if (auto done = checked(cudaEventCreateWithFlags(&point, cudaEventDisableTiming)); !done)
    return done;
  auto done = checked(cudaEventRecord(point, native(earlier)));
  if (done) done = checked(cudaStreamWaitEvent(native(later), point, cudaEventDefault));
  static_cast<void>(cudaEventDestroy(point));  // released by CUDA once it is over
  return done;
}

outcome<event> event::create(int device) {
  const device_scope current(device);
  cudaEvent_t made = nullptr;
  if (auto done = checked(cudaEventCreate(&made), "creating an event"); !done)
    return fail(done.error());
  event owner;
  owner.native_ = made;
  owner.device_ = device;
  return owner;
}

event& event::operator=(event&& other) noexcept {
  if (this == &other) return *this;
  reset();
  native_ = std::exchange(other.native_, nullptr);
  device_ = other.device_;
  return *this;
}

void event::reset() {
  if (native_ != nullptr) static_cast<void>(cudaEventDestroy(static_cast<cudaEvent_t>(native_)));
  native_ = nullptr;
}

outcome<void> event::record(stream_ref in) {
  const device_scope current(device_);
  return checked(cudaEventRecord(static_cast<cudaEvent_t>(native_), native(in)),
                 "recording an event");
}

outcome<double> event::milliseconds_until(const event& later) const {
  float milliseconds = 0;
  if (auto done = checked(cudaEventElapsedTime(&milliseconds, static_cast<cudaEvent_t>(native_),
                                               static_cast<cudaEvent_t>(later.native_)),
                          "reading two events");
      !done)
    return fail(done.error());
  return static_cast<double>(milliseconds);
}

outcome<void> graph::begin(stream_ref into) {
  const device_scope current(into.device);
  return checked(cudaStreamBeginCapture(native(into), cudaStreamCaptureModeThreadLocal),
                 "beginning a capture");
}

outcome<graph> graph::end(stream_ref into) {
  const device_scope current(into.device);
  cudaGraph_t captured = nullptr;
  if (auto done = checked(cudaStreamEndCapture(native(into), &captured), "ending a capture"); !done)
    return fail(done.error());
  auto made = from(captured, into);
  static_cast<void>(cudaGraphDestroy(captured));
  return made;
}

outcome<graph> graph::from(CUgraph_st* native_graph, stream_ref upload) {
  graph made;
  if (auto done = checked(cudaGraphInstantiate(&made.native_, native_graph, 0),
                          "making a graph ready to launch");
      !done)
    return fail(done.error());
  // Uploaded now, so that the first launch does not allocate.
  if (auto done = checked(cudaGraphUpload(made.native_, native(upload)), "uploading a graph");
      !done)
    return fail(done.error());
  return made;
}

graph& graph::operator=(graph&& other) noexcept {
  if (this == &other) return *this;
  reset();
  native_ = std::exchange(other.native_, nullptr);
  return *this;
}

void graph::reset() {
  if (native_ != nullptr) static_cast<void>(cudaGraphExecDestroy(native_));
  native_ = nullptr;
}

result<void> graph::launch(stream_ref in) const {
  return checked(cudaGraphLaunch(native_, native(in)));
}

result<bool> is_capturing(stream_ref in) {
  cudaStreamCaptureStatus status{};
  if (auto done = checked(cudaStreamIsCapturing(native(in), &status)); !done)
    return tl::unexpected<error>(done.error());
  return status == cudaStreamCaptureStatusActive;
}

}  // namespace troupe::kernels
