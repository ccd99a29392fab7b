#include "kernels/device/device.hpp"

#include <string>

#include "kernels/detail/cuda_status.hpp"

namespace troupe::kernels {

namespace {

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

outcome<int> device_count() {
  int count = 0;
  const auto status = cudaGetDeviceCount(&count);
  if (status == cudaErrorInsufficientDriver) {
    int driver = 0;
    int runtime = 0;
    static_cast<void>(cudaDriverGetVersion(&driver));
    static_cast<void>(cudaRuntimeGetVersion(&runtime));
    return fail(failure(detail::to_error(status),
                        driver == 0 ? std::string("no NVIDIA driver is loaded on this machine")
                                    : "the NVIDIA driver supports CUDA " + version_text(driver) +
                                          ", this build needs " + version_text(runtime) +
                                          ": update the driver"));
  }
  if (status == cudaErrorNoDevice) return 0;
  if (auto done = detail::checked(status, "cudaGetDeviceCount"); !done) return fail(done.error());
  return count;
}

device_scope::device_scope(int device) {
  if (cudaGetDevice(&before_) == cudaSuccess && before_ != device)
    changed_ = cudaSetDevice(device) == cudaSuccess;
}

device_scope::~device_scope() {
  if (changed_) static_cast<void>(cudaSetDevice(before_));
}

outcome<void> allow_peer_access(int device, int peer) {
  if (device == peer) return {};
  int can = 0;
  const auto pair = "GPU " + std::to_string(device) + " to GPU " + std::to_string(peer);
  if (auto done = detail::checked(cudaDeviceCanAccessPeer(&can, device, peer), pair); !done)
    return done;
  if (can == 0)
    return fail(errc::not_available, "no peer access from " + pair + " on this machine");
  const device_scope current(device);
  const auto status = cudaDeviceEnablePeerAccess(peer, 0);
  if (status == cudaErrorPeerAccessAlreadyEnabled) {
    static_cast<void>(cudaGetLastError());
    return {};
  }
  return detail::checked(status, "peer access from " + pair);
}

outcome<std::uint64_t> free_memory(int device) {
  const device_scope current(device);
  std::size_t available = 0;
  std::size_t total = 0;
  if (auto done = detail::checked(cudaMemGetInfo(&available, &total),
                                  "asking for the memory of GPU " + std::to_string(device));
      !done)
    return fail(done.error());
  return available;
}

outcome<void> wait_for_device(int device) {
  const device_scope current(device);
  return detail::checked(cudaDeviceSynchronize(), "waiting for GPU " + std::to_string(device));
}

}  // namespace troupe::kernels
