#pragma once

#include <cstdint>
#include <vector>

#include "actors/worker/poller.hpp"

namespace troupe::actors {

/// Who a timer wakes.
class timer_owner {
 public:
  virtual ~timer_owner() = default;
  virtual void on_timer(std::uint64_t generation) = 0;
};

/// The timers of one worker: one heap, no allocation in steady state. Moving a timer to a later
/// time, which is what acknowledgements and heartbeats do all the time, costs two stores.
///
/// Thread: the worker only.
class timer_queue final : public poller {
 public:
  using timer_id = std::uint32_t;

  timer_id create(timer_owner& owner);

  /// Forgets the timer; its owner is not called any more.
  void destroy(timer_id id);

  /// Calls `owner.on_timer(generation)` at `deadline` or soon after; replaces what was armed.
  /// `never` disarms.
  void arm(timer_id id, instant deadline, std::uint64_t generation);

  bool poll(instant now) override;
  instant next_deadline() const override;

 private:
  struct timer {
    timer_owner* owner = nullptr;
    instant deadline = never;
    instant queued = never;  ///< earliest heap entry of this timer; `never` if there is none
    std::uint64_t generation = 0;
    std::uint32_t life = 0;  ///< grows on destroy, so that heap entries of the dead are recognised
  };
  struct entry {
    instant at;
    timer_id id;
    std::uint32_t life;
  };

  void push(entry e);
  entry pop();

  std::vector<timer> timers_;
  std::vector<timer_id> free_;
  std::vector<entry> heap_;
};

}  // namespace troupe::actors
