#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "net/verbs/detail/handles.hpp"
#include "runtime/result.hpp"

namespace troupe::net::detail {

/// The completion queues of a device. A lane reserves an entry for every completion that it can
/// have outstanding, so none overflows; when one is full, lanes get another.
class completion_queues {
 public:
  completion_queues(ibv_context& device, ibv_comp_channel& channel, std::uint32_t entries)
      : device_(device), channel_(channel), entries_(entries) {}

  struct reservation {
    std::size_t queue = 0;
    std::uint32_t entries = 0;
  };

  /// Errors: resource_exhausted with errno.
  result<reservation> reserve(std::uint32_t entries);

  /// The queue pair is gone; what it left in the queue is there until the queue was polled dry.
  void release(const reservation& from);

  ibv_cq* at(const reservation& from) const { return queues_[from.queue].handle.get(); }

  /// Hands what completed to `take`, a bounded number from each queue. True: there may be more.
  template <class Take>
  bool poll(Take take) {
    bool more = false;
    std::array<ibv_wc, 32> found;
    for (auto& each : queues_) {
      // What was retired before this poll has nothing more to say once the queue is empty.
      const auto retired = each.retired;
      int count = 0;
      int total = 0;
      do {
        count = ibv_poll_cq(each.handle.get(), static_cast<int>(found.size()), found.data());
        for (int i = 0; i < count; ++i)
          take(found[static_cast<std::size_t>(i)]);
        total += count;
      } while (count == static_cast<int>(found.size()) && total < completions_per_poll);
      if (count == static_cast<int>(found.size())) {
        more = true;
      } else {
        each.reserved -= retired;
        each.retired -= retired;
      }
    }
    return more;
  }

  /// From here on the next completion of any queue makes the channel readable.
  void arm();

  /// Takes the events of the channel, so that it is not readable any more.
  void drain_events();

 private:
  // Chosen: about 50 us of events of a lane's kind.
  static constexpr int completions_per_poll = 256;

  struct entry {
    completion_queue handle;
    std::uint32_t capacity = 0;
    std::uint32_t reserved = 0;
    std::uint32_t retired = 0;  ///< of the reserved ones, those of pairs that are gone
  };

  ibv_context& device_;
  ibv_comp_channel& channel_;
  std::uint32_t entries_;
  std::vector<entry> queues_;
};

}  // namespace troupe::net::detail
