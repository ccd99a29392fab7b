#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels/stream_ref.hpp"
#include "runtime/result.hpp"

namespace troupe::bench {

/// NCCL as it is installed on the machine, loaded at run time: nothing links to it, and its header
/// is not needed. Only what the benchmark calls; data is float32, the operator is sum.
class nccl_library {
 public:
  using unique_id = std::array<char, 128>;

  /// Errors: not_available; the text says what was tried.
  static outcome<nccl_library> load(const std::string& path);

  std::string version() const;
  outcome<unique_id> make_unique_id() const;

  /// A communicator of the current GPU. Closed by the end of the process.
  outcome<void*> join(const unique_id& id, std::uint32_t rank, std::uint32_t size) const;

  outcome<void> all_reduce(void* with, kernels::stream_ref in, const void* send, void* receive,
                           std::uint64_t count) const;
  outcome<void> all_gather(void* with, kernels::stream_ref in, const void* send, void* receive,
                           std::uint64_t count) const;
  /// A group of one send to each peer of `peers` and one receive from it.
  struct exchange {
    std::uint32_t peer = 0;
    const void* send = nullptr;
    void* receive = nullptr;
  };
  outcome<void> exchange_with(void* with, kernels::stream_ref in, const exchange* peers,
                              std::uint32_t peer_count, std::uint64_t count) const;

 private:
  outcome<void> checked(int status, const char* what) const;

  int (*get_version_)(int*) = nullptr;
  const char* (*error_string_)(int) = nullptr;
  int (*get_unique_id_)(unique_id*) = nullptr;
  int (*init_rank_)(void**, int, unique_id, int) = nullptr;
  int (*all_reduce_)(const void*, void*, std::size_t, int, int, void*, void*) = nullptr;
  int (*all_gather_)(const void*, void*, std::size_t, int, void*, void*) = nullptr;
  int (*send_)(const void*, std::size_t, int, int, void*, void*) = nullptr;
  int (*receive_)(void*, std::size_t, int, int, void*, void*) = nullptr;
  int (*group_start_)() = nullptr;
  int (*group_end_)() = nullptr;
};

}  // namespace troupe::bench
