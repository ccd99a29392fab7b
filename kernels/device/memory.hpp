#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "runtime/result.hpp"

namespace troupe::kernels {

/// Memory of one GPU, freed by its owner. The bytes are zero at first.
class device_memory {
 public:
  /// Errors: resource_exhausted; the text has size and GPU.
  static outcome<device_memory> allocate(int device, std::uint64_t bytes);

  device_memory() = default;
  ~device_memory() { reset(); }
  device_memory(device_memory&& other) noexcept { *this = std::move(other); }
  device_memory& operator=(device_memory&& other) noexcept;

  std::byte* data() const { return data_; }
  std::uint64_t bytes() const { return bytes_; }
  int device() const { return device_; }

  /// Copies to or from the host and waits. For set-up and tests: never on an operation's path.
  outcome<void> write(std::uint64_t at, const void* from, std::uint64_t bytes);
  outcome<void> read(std::uint64_t at, void* to, std::uint64_t bytes) const;

  void reset();

 private:
  std::byte* data_ = nullptr;
  std::uint64_t bytes_ = 0;
  int device_ = 0;
};

/// Host memory that every GPU of the process reads and writes at the same address. Zero at first.
class pinned_memory {
 public:
  /// Errors: resource_exhausted.
  static outcome<pinned_memory> allocate(std::uint64_t bytes);

  pinned_memory() = default;
  ~pinned_memory() { reset(); }
  pinned_memory(pinned_memory&& other) noexcept { *this = std::move(other); }
  pinned_memory& operator=(pinned_memory&& other) noexcept;

  std::byte* data() const { return data_; }
  std::uint64_t bytes() const { return bytes_; }

  void reset();

 private:
  std::byte* data_ = nullptr;
  std::uint64_t bytes_ = 0;
};

/// What another process needs to reach an allocation of this one: opaque bytes, and who made them.
/// Valid as long as the allocation and its process live.
struct memory_export {
  std::array<std::byte, 64> handle{};
  std::uint64_t base = 0;    ///< address of the allocation in the process that made it
  std::uint64_t offset = 0;  ///< of the exported address, in bytes from `base`
  std::uint64_t bytes = 0;   ///< exported bytes
  std::int64_t process = 0;
  std::int32_t device = 0;  ///< as the process that made it counts GPUs
  std::int32_t reserved = 0;
};

/// Describes [data, data + bytes), which lies in one allocation of cudaMalloc.
/// Errors: bad_argument if it is no device memory, reaches beyond its allocation, or comes from a
/// pool or from virtual memory management, which have no handle of this kind; the text says which.
outcome<memory_export> export_memory(const void* data, std::uint64_t bytes);

/// Exported memory, reachable from a GPU of this process. Memory of this process is reached where
/// it is; nothing is mapped for it.
class peer_memory {
 public:
  /// Errors: not_available without a connection of the two GPUs; system_failure.
  static outcome<peer_memory> import(int device, const memory_export& from);

  peer_memory() = default;
  ~peer_memory() { reset(); }
  peer_memory(peer_memory&& other) noexcept { *this = std::move(other); }
  peer_memory& operator=(peer_memory&& other) noexcept;

  std::byte* data() const { return data_; }

  void reset();

 private:
  std::byte* data_ = nullptr;
  void* mapped_ = nullptr;  ///< start of the mapping; null for memory of this process
  int device_ = 0;
};

}  // namespace troupe::kernels
