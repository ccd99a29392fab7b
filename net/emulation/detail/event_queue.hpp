#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "runtime/descriptor.hpp"

namespace troupe::net::emulation {

/// Events behind a descriptor that a program may poll, read with or without blocking as the flags
/// of the descriptor say. An event that was removed may leave the descriptor readable once more.
/// Thread: any.
template <class Event>
class event_queue {
 public:
  event_queue() : descriptor_(::eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC)) {}

  int number() const { return descriptor_.number(); }

  void push(const Event& event) {
    const std::lock_guard guard(mutex_);
    events_.push_back(event);
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(descriptor_.number(), &one, sizeof one);
  }

  /// The oldest event; nothing, with errno, if the descriptor does not block and there is none.
  std::optional<Event> take() {
    for (;;) {
      std::uint64_t one = 0;
      if (::read(descriptor_.number(), &one, sizeof one) != sizeof one) return std::nullopt;
      const std::lock_guard guard(mutex_);
      if (events_.empty()) continue;
      const Event event = events_.front();
      events_.pop_front();
      return event;
    }
  }

  /// Removes what `is_stale` says and returns how many those were.
  template <class Predicate>
  std::size_t remove(Predicate is_stale) {
    const std::lock_guard guard(mutex_);
    return std::erase_if(events_, is_stale);
  }

 private:
  descriptor descriptor_;
  std::mutex mutex_;
  std::deque<Event> events_;
};

}  // namespace troupe::net::emulation
