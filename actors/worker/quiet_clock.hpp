#pragma once

#include <caf/actor_clock.hpp>
#include <caf/group.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/message.hpp>

#include "runtime/assert.hpp"

namespace troupe::actors {

/// The clock that CAF wants of a scheduler. Nothing of Troupe uses CAF's timers (`timer_queue` has
/// ours), so there is no thread behind it: time stands still, a cancellation has nothing to cancel,
/// and a request is a bug.
///
/// CAF's own clocks do not serve here: `thread_safe_actor_clock` hands each cancellation to its
/// thread through a queue of 64, and every actor that ends cancels; without the thread the 65th
/// actor that ended would wait forever.
class quiet_clock final : public caf::actor_clock {
 public:
  time_point now() const noexcept override { return {}; }
  void cancel_ordinary_timeout(caf::abstract_actor*, caf::atom_value) override {}
  void cancel_request_timeout(caf::abstract_actor*, caf::message_id) override {}
  void cancel_timeouts(caf::abstract_actor*) override {}
  void cancel_all() override {}

  void set_ordinary_timeout(time_point, caf::abstract_actor*, caf::atom_value,
                            std::uint64_t) override {
    refuse();
  }
  void set_multi_timeout(time_point, caf::abstract_actor*, caf::atom_value,
                         std::uint64_t) override {
    refuse();
  }
  void set_request_timeout(time_point, caf::abstract_actor*, caf::message_id) override { refuse(); }
  void schedule_message(time_point, caf::strong_actor_ptr, caf::mailbox_element_ptr) override {
    refuse();
  }
  void schedule_message(time_point, caf::group, caf::strong_actor_ptr, caf::message) override {
    refuse();
  }

 private:
  static void refuse() { TROUPE_ASSERT(!"an actor asked CAF for a timer"); }
};

}  // namespace troupe::actors
