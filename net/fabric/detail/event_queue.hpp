#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/assert.hpp"
#include "runtime/instant.hpp"

namespace troupe::net::detail {

/// Something that happens at `at`. Equal times happen in the order in which they were planned.
struct planned_event {
  instant at;
  std::uint64_t sequence = 0;
  std::uint8_t what = 0;
  std::uint32_t subject = 0;
  std::uint32_t generation = 0;
};

/// A 4-ary heap over (time, sequence). Four children share a cache line and a half, and the heap
/// is half as deep as a binary one: pops, which walk down, are what costs.
class event_queue {
 public:
  void push(instant at, std::uint8_t what, std::uint32_t subject, std::uint32_t generation) {
    heap_.push_back({at, next_sequence_++, what, subject, generation});
    rise(heap_.size() - 1);
  }

  bool empty() const { return heap_.empty(); }
  const planned_event& top() const { return heap_.front(); }

  void pop() {
    TROUPE_DASSERT(!heap_.empty());
    const auto last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sink(last);
  }

 private:
  static bool earlier(const planned_event& a, const planned_event& b) {
    return a.at != b.at ? a.at < b.at : a.sequence < b.sequence;
  }

  void rise(std::size_t i) {
    const auto moving = heap_[i];
    while (i > 0) {
      const std::size_t parent = (i - 1) / 4;
      if (!earlier(moving, heap_[parent])) break;
      heap_[i] = heap_[parent];
      i = parent;
    }
    heap_[i] = moving;
  }

  void sink(const planned_event& moving) {
    std::size_t i = 0;
    while (true) {
      const std::size_t first = 4 * i + 1;
      if (first >= heap_.size()) break;
      std::size_t best = first;
      const std::size_t end = first + 4 < heap_.size() ? first + 4 : heap_.size();
      for (std::size_t child = first + 1; child < end; ++child)
        if (earlier(heap_[child], heap_[best])) best = child;
      if (!earlier(heap_[best], moving)) break;
      heap_[i] = heap_[best];
      i = best;
    }
    heap_[i] = moving;
  }

  std::vector<planned_event> heap_;
  std::uint64_t next_sequence_ = 0;
};

}  // namespace troupe::net::detail
