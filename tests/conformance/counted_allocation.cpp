// Replaces the global `operator new` of a test program by one that counts.

#include <atomic>
#include <cstdlib>
#include <new>

#include "tests/conformance/lane_cases.hpp"

namespace {

std::atomic<std::size_t> allocations{0};

void* counted(std::size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes); memory != nullptr) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t bytes) {
  return counted(bytes);
}
void* operator new[](std::size_t bytes) {
  return counted(bytes);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace troupe::conformance {

std::size_t allocation_count() {
  return allocations.load(std::memory_order_relaxed);
}

}  // namespace troupe::conformance
