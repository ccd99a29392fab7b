#include "tests/gpu/stranger.hpp"

#include <array>
#include <cstddef>
#include <utility>

namespace troupe::test {

namespace {

constexpr std::size_t lazy_kernel_count = 256;

template <std::size_t Number>
__global__ void lazily_loaded(unsigned long long* sum) {
  atomicAdd(sum, Number);
}

using lazy_kernel = void (*)(unsigned long long*);

template <std::size_t... Numbers>
std::array<lazy_kernel, sizeof...(Numbers)> all_kernels(std::index_sequence<Numbers...>) {
  return {&lazily_loaded<Numbers>...};
}

}  // namespace

stranger::stranger(std::vector<int> devices)
    : thread_([this, devices = std::move(devices)] { disturb(devices); }) {}

stranger::~stranger() {
  stopped_ = true;
  thread_.join();
}

void stranger::disturb(const std::vector<int>& devices) {
  const auto kernels = all_kernels(std::make_index_sequence<lazy_kernel_count>{});
  const auto note = [&](cudaError_t status) {
    if (status != cudaSuccess) failed_ = static_cast<int>(status);
  };
  for (std::size_t round = 0; !stopped_; ++round) {
    for (const int device : devices) {
      note(cudaSetDevice(device));
      unsigned long long* memory = nullptr;
      note(cudaMalloc(&memory, 1 << 20));
      if (round < lazy_kernel_count) {
        kernels[round]<<<1, 1>>>(memory);
        note(cudaGetLastError());
        ++first_launches_;
      }
      if (round % 2 == 0) note(cudaDeviceSynchronize());
      note(cudaFree(memory));
    }
    ++rounds_;
  }
}

}  // namespace troupe::test
