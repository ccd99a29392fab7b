#include "runtime/mark.hpp"

namespace troupe {

namespace {

// The list head is the one mutable global of the tree: marks are statistics of the program text,
// not state of a runtime object.
constinit std::atomic<const mark*> first_mark{nullptr};

}  // namespace

mark::mark(const char* name) noexcept : name_(name) {
  next_ = first_mark.load(std::memory_order_relaxed);
  while (!first_mark.compare_exchange_weak(next_, this, std::memory_order_release)) {
  }
}

const mark* mark::first() noexcept {
  return first_mark.load(std::memory_order_acquire);
}

}  // namespace troupe
