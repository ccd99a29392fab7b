#include "kernels/device/memory.hpp"

#include <cuda.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "kernels/detail/cuda_status.hpp"
#include "kernels/detail/driver_calls.hpp"
#include "kernels/device/device.hpp"

namespace troupe::kernels {

static_assert(sizeof(cudaIpcMemHandle_t) == sizeof(memory_export::handle));

outcome<device_memory> device_memory::allocate(int device, std::uint64_t bytes) {
  const device_scope current(device);
  void* data = nullptr;
  const auto what =
      "allocating " + std::to_string(bytes) + " bytes on GPU " + std::to_string(device);
  if (auto done = detail::checked(cudaMalloc(&data, bytes), what); !done) return fail(done.error());
  device_memory made;
  made.data_ = static_cast<std::byte*>(data);
  made.bytes_ = bytes;
  made.device_ = device;
  if (auto done = detail::checked(cudaMemset(data, 0, bytes), what); !done)
    return fail(done.error());
  // A memset of device memory returns before it is done.
  if (auto done = detail::checked(cudaStreamSynchronize(nullptr), what); !done)
    return fail(done.error());
  return made;
}

device_memory& device_memory::operator=(device_memory&& other) noexcept {
  if (this == &other) return *this;
  reset();
  data_ = std::exchange(other.data_, nullptr);
  bytes_ = std::exchange(other.bytes_, 0);
  device_ = other.device_;
  return *this;
}

void device_memory::reset() {
  if (data_ == nullptr) return;
  const device_scope current(device_);
  static_cast<void>(cudaFree(data_));
  data_ = nullptr;
  bytes_ = 0;
}

outcome<void> device_memory::write(std::uint64_t at, const void* from, std::uint64_t bytes) {
  const device_scope current(device_);
  if (at > bytes_ || bytes > bytes_ - at)
    return fail(errc::bad_argument, "writing beyond device memory");
  return detail::checked(cudaMemcpy(data_ + at, from, bytes, cudaMemcpyHostToDevice),
                         "copying to GPU " + std::to_string(device_));
}

outcome<void> device_memory::read(std::uint64_t at, void* to, std::uint64_t bytes) const {
  const device_scope current(device_);
  if (at > bytes_ || bytes > bytes_ - at)
    return fail(errc::bad_argument, "reading beyond device memory");
  return detail::checked(cudaMemcpy(to, data_ + at, bytes, cudaMemcpyDeviceToHost),
                         "copying from GPU " + std::to_string(device_));
}

outcome<pinned_memory> pinned_memory::allocate(std::uint64_t bytes) {
  void* data = nullptr;
  if (auto done = detail::checked(cudaHostAlloc(&data, bytes, cudaHostAllocPortable),
                                  "pinning " + std::to_string(bytes) + " bytes of host memory");
      !done)
    return fail(done.error());
  std::memset(data, 0, bytes);
  pinned_memory made;
  made.data_ = static_cast<std::byte*>(data);
  made.bytes_ = bytes;
  return made;
}

pinned_memory& pinned_memory::operator=(pinned_memory&& other) noexcept {
  if (this == &other) return *this;
  reset();
  data_ = std::exchange(other.data_, nullptr);
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

void pinned_memory::reset() {
  if (data_ != nullptr) static_cast<void>(cudaFreeHost(data_));
  data_ = nullptr;
  bytes_ = 0;
}

outcome<memory_export> export_memory(const void* data, std::uint64_t bytes) {
  cudaPointerAttributes attributes{};
  if (auto done = detail::checked(cudaPointerGetAttributes(&attributes, data), "exporting memory");
      !done)
    return fail(done.error());
  if (attributes.type != cudaMemoryTypeDevice)
    return fail(errc::bad_argument, "only memory of a GPU can be shared with peers, this is not");

  const auto calls = detail::driver_calls::load();
  if (!calls) return fail(calls.error());
  CUdeviceptr base = 0;
  std::size_t allocated = 0;
  const auto address = reinterpret_cast<CUdeviceptr>(data);
  if (calls->address_range(&base, &allocated, address) != CUDA_SUCCESS)
    return fail(errc::bad_argument, "the driver knows no allocation at this address");
  memory_export made;
  made.base = base;
  made.offset = address - base;
  made.bytes = bytes;
  made.process = ::getpid();
  made.device = attributes.device;
  if (bytes > allocated - made.offset)
    return fail(errc::bad_argument, "the buffer of " + std::to_string(bytes) + " bytes reaches " +
                                        std::to_string(bytes - (allocated - made.offset)) +
                                        " bytes beyond its allocation");
  cudaIpcMemHandle_t handle;
  const auto status = cudaIpcGetMemHandle(&handle, reinterpret_cast<void*>(base));
  if (status != cudaSuccess) static_cast<void>(cudaGetLastError());
  if (auto done = detail::checked(status,
                                  "no handle for other processes (memory of cudaMallocAsync or of "
                                  "virtual memory management has none: use cudaMalloc)");
      !done)
    return fail(done.error());
  std::memcpy(made.handle.data(), &handle, sizeof handle);
  return made;
}

outcome<peer_memory> peer_memory::import(int device, const memory_export& from) {
  peer_memory made;
  made.device_ = device;
  if (from.process == ::getpid()) {
    made.data_ = reinterpret_cast<std::byte*>(from.base + from.offset);
    return made;
  }
  const device_scope current(device);
  cudaIpcMemHandle_t handle;
  std::memcpy(&handle, from.handle.data(), sizeof handle);
  if (auto done = detail::checked(
          cudaIpcOpenMemHandle(&made.mapped_, handle, cudaIpcMemLazyEnablePeerAccess),
          "mapping memory of process " + std::to_string(from.process) + " on GPU " +
              std::to_string(device));
      !done)
    return fail(done.error());
  made.data_ = static_cast<std::byte*>(made.mapped_) + from.offset;
  return made;
}

peer_memory& peer_memory::operator=(peer_memory&& other) noexcept {
  if (this == &other) return *this;
  reset();
  data_ = std::exchange(other.data_, nullptr);
  mapped_ = std::exchange(other.mapped_, nullptr);
  device_ = other.device_;
  return *this;
}

void peer_memory::reset() {
  if (mapped_ != nullptr) {
    const device_scope current(device_);
    static_cast<void>(cudaIpcCloseMemHandle(mapped_));
  }
  mapped_ = nullptr;
  data_ = nullptr;
}

}  // namespace troupe::kernels
