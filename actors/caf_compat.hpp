#pragma once

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/execution_unit.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

#include "runtime/slab.hpp"

// Everything that depends on the CAF version, beside the scheduler seam in actors/worker. Written
// for 0.17 (what Debian and Ubuntu ship); 0.18 needs other definitions of these, and no more.
#if CAF_VERSION >= 1800
#error "actors/caf_compat.hpp and actors/worker are written for CAF 0.17; see docs/decisions"
#endif

/// A one-way entry of a typed interface.
#define TROUPE_HANDLES(Message) ::caf::reacts_to<Message>

/// In-process message: compared by CAF's tests, never serialised. No message leaves a process.
#define TROUPE_LOCAL_MESSAGE(Message) CAF_ALLOW_UNSAFE_MESSAGE_TYPE(Message)

namespace troupe::actors {

/// Sends from anywhere on the worker's own thread. `unit` is the worker's execution unit, so that
/// the receiver is queued without a lock; null (simulation, other threads) goes through the
/// scheduler.
template <class Handle, class Message>
void post(caf::execution_unit* unit, const Handle& to, Message&& message) {
  if (!to) return;
  caf::actor_cast<caf::abstract_actor*>(to)->enqueue(
      caf::make_mailbox_element(nullptr, caf::make_message_id(), {},
                                std::forward<Message>(message)),
      unit);
}

/// Like `post`, overtaking ordinary messages: failures and cancellations.
template <class Handle, class Message>
void post_urgent(caf::execution_unit* unit, const Handle& to, Message&& message) {
  if (!to) return;
  caf::actor_cast<caf::abstract_actor*>(to)->enqueue(
      caf::make_mailbox_element(nullptr, caf::make_message_id(caf::message_priority::high), {},
                                std::forward<Message>(message)),
      unit);
}

/// A message in a mailbox whose memory comes from a slab, and goes back there by the thread that
/// handles or drops it. CAF's own `mailbox_element_vals` is one malloc for each message.
template <class Message>
class slab_element final : public caf::mailbox_element,
                           public caf::detail::tuple_vals_impl<caf::type_erased_tuple, Message> {
  using values = caf::detail::tuple_vals_impl<caf::type_erased_tuple, Message>;

 public:
  template <class Value>
  slab_element(caf::message_id id, Value&& value)
      : mailbox_element(nullptr, id, {}), values(std::forward<Value>(value)) {}

  caf::type_erased_tuple& content() override { return *this; }
  const caf::type_erased_tuple& content() const override { return *this; }
  caf::message move_content_to_message() override {
    return caf::make_message(std::move(std::get<0>(this->data())));
  }
  caf::message copy_content_to_message() const override {
    return caf::make_message(std::get<0>(this->data()));
  }

  static void* operator new(std::size_t bytes, slab& from) {
    auto* const place = static_cast<std::byte*>(from.allocate(prefix_bytes + bytes, alignment));
    new (place) slab*(&from);
    return place + prefix_bytes;
  }
  static void operator delete(void* element, slab& from) noexcept {
    from.deallocate(place_of(element), prefix_bytes + sizeof(slab_element), alignment);
  }
  static void operator delete(void* element) noexcept {
    operator delete(element, **reinterpret_cast<slab**>(place_of(element)));
  }

 private:
  static constexpr std::size_t alignment = alignof(std::max_align_t);
  static constexpr std::size_t prefix_bytes = alignment;  ///< the slab, before the element

  static std::byte* place_of(void* element) {
    return static_cast<std::byte*>(element) - prefix_bytes;
  }
};

/// As `post` and `post_urgent`, with the message in a slab of the worker's thread.
template <class Handle, class Message>
void post(slab& from, caf::execution_unit* unit, const Handle& to, Message&& message) {
  if (!to) return;
  using element = slab_element<std::decay_t<Message>>;
  auto* const made = new (from) element(caf::make_message_id(), std::forward<Message>(message));
  caf::actor_cast<caf::abstract_actor*>(to)->enqueue(caf::mailbox_element_ptr{made}, unit);
}

template <class Handle, class Message>
void post_urgent(slab& from, caf::execution_unit* unit, const Handle& to, Message&& message) {
  if (!to) return;
  using element = slab_element<std::decay_t<Message>>;
  auto* const made = new (from)
      element(caf::make_message_id(caf::message_priority::high), std::forward<Message>(message));
  caf::actor_cast<caf::abstract_actor*>(to)->enqueue(caf::mailbox_element_ptr{made}, unit);
}

/// Ends an actor from outside; it handles nothing more.
template <class Handle>
void stop_actor(const Handle& actor) {
  if (actor) caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
}

}  // namespace troupe::actors
