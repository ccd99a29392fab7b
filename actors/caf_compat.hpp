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

#include <utility>

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

/// Ends an actor from outside; it handles nothing more.
template <class Handle>
void stop_actor(const Handle& actor) {
  if (actor) caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
}

}  // namespace troupe::actors
