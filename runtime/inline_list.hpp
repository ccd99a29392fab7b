#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "runtime/assert.hpp"

namespace troupe {

/// A list with room for `Capacity` values and no allocation: the effects of one step. Overflow is
/// a broken invariant of the core that fills it.
template <class T, std::size_t Capacity>
class inline_list {
 public:
  void push_back(T value) {
    TROUPE_ASSERT(size_ < Capacity);
    items_[size_++] = std::move(value);
  }

  void clear() { size_ = 0; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  static constexpr std::size_t capacity() { return Capacity; }

  T& operator[](std::size_t i) { return items_[i]; }
  const T& operator[](std::size_t i) const { return items_[i]; }
  T* begin() { return items_.data(); }
  T* end() { return items_.data() + size_; }
  const T* begin() const { return items_.data(); }
  const T* end() const { return items_.data() + size_; }

 private:
  std::array<T, Capacity> items_{};
  std::size_t size_ = 0;
};

}  // namespace troupe
