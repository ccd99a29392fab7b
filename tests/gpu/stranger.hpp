#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace troupe::test {

/// Somebody else's thread in the same process, which does to GPUs what a trainer does beside
/// operations and what takes the lock of a GPU while it waits for all that runs there: cudaMalloc
/// and cudaFree, cudaDeviceSynchronize, and first launches of kernels that are loaded when they are
/// first launched.
class stranger {
 public:
  explicit stranger(std::vector<int> devices);
  ~stranger();
  stranger(const stranger&) = delete;
  stranger& operator=(const stranger&) = delete;

  std::uint64_t rounds() const { return rounds_.load(); }
  std::uint64_t first_launches() const { return first_launches_.load(); }
  /// The first CUDA error it met, 0 if none.
  int failed() const { return failed_.load(); }

 private:
  void disturb(const std::vector<int>& devices);

  std::atomic<bool> stopped_{false};
  std::atomic<std::uint64_t> rounds_{0};
  std::atomic<std::uint64_t> first_launches_{0};
  std::atomic<int> failed_{0};
  std::thread thread_;
};

}  // namespace troupe::test
