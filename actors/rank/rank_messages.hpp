#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/caf_compat.hpp"
#include "actors/collective/collective_messages.hpp"
#include "actors/ticket.hpp"
#include "actors/work/work_state.hpp"
#include "runtime/error.hpp"
#include "runtime/operation.hpp"

namespace troupe::actors {

/// The trainer called an operation.
struct operation_requested {
  std::shared_ptr<work_state> work;

  friend bool operator==(const operation_requested&, const operation_requested&) = default;
};

/// The collective of `slot` ended; null: well.
struct collective_ended {
  operation_slot slot;
  std::shared_ptr<const failure> why;

  friend bool operator==(const collective_ended&, const collective_ended&) = default;
};

/// How a promised operation came to a stand.
enum class promise_end : std::uint8_t {
  confirmed,  ///< every member of the epoch holds the result
  stopped,    ///< it was stopped, or failed
  restored,   ///< its input is what it was before the call
};

/// The runner of the promised operation of `slot` is free again.
struct promise_ended {
  operation_slot slot;
  promise_end how = promise_end::stopped;
  bool complete = false;                         ///< stopped: the whole result is here
  std::shared_ptr<const failure> why = nullptr;  ///< stopped; `epoch_changed` if it was asked to

  friend bool operator==(const promise_ended&, const promise_ended&) = default;
};

/// A frame of the view change came from world rank `from`.
struct membership_heard {
  rank from;
  std::shared_ptr<const std::vector<std::byte>> frame;

  friend bool operator==(const membership_heard&, const membership_heard&) = default;
};

/// The process of world rank `peer` ended: whoever started it saw so.
struct exit_seen {
  rank peer;

  friend bool operator==(const exit_seen&, const exit_seen&) = default;
};

/// The trainer wants these members out, by name; answered at once, the new epoch comes later.
struct reconfigure_requested {
  std::shared_ptr<const std::vector<std::uint32_t>> without;
  ticket_handle<done_value> answer;

  friend bool operator==(const reconfigure_requested&, const reconfigure_requested&) = default;
};

/// The trainer wants to let a rank in; answered with the text of an invitation.
struct invitation_requested {
  ticket_handle<std::string> answer;

  friend bool operator==(const invitation_requested&, const invitation_requested&) = default;
};

/// A member (world rank `from`) says that the communicator failed.
struct failure_noticed {
  rank from;
  std::optional<troupe::epoch> epoch;  ///< in which it did; unset: whichever there is
  std::shared_ptr<const failure> why;

  friend bool operator==(const failure_noticed&, const failure_noticed&) = default;
};

/// A transfer of world rank `peer` waits here and matches nothing.
struct transfer_unmatched {
  rank peer;
  operation_number operation;
  operation_signature theirs;

  friend bool operator==(const transfer_unmatched&, const transfer_unmatched&) = default;
};

/// World rank `peer` ended.
struct peer_ended {
  rank peer;
  std::shared_ptr<const failure> why;

  friend bool operator==(const peer_ended&, const peer_ended&) = default;
};

/// The link to world rank `peer` opened.
struct peer_connected {
  rank peer;

  friend bool operator==(const peer_connected&, const peer_connected&) = default;
};

struct abort_requested {
  ticket_handle<done_value> answer;

  friend bool operator==(const abort_requested&, const abort_requested&) = default;
};

struct finalize_requested {
  ticket_handle<done_value> answer;

  friend bool operator==(const finalize_requested&, const finalize_requested&) = default;
};

/// Open memory as the communicator's window `number`; answered with the key of its exposure.
struct window_open_request {
  std::uint32_t number = 0;
  void* base = nullptr;
  std::uint64_t bytes = 0;
  ticket_handle<std::uint64_t> answer;

  friend bool operator==(const window_open_request&, const window_open_request&) = default;
};

/// Later writes into window `number` are refused.
struct window_close_request {
  std::uint32_t number = 0;
  ticket_handle<done_value> answer;

  friend bool operator==(const window_close_request&, const window_close_request&) = default;
};

/// World rank `from` put something into window `number` and notifies.
struct window_written {
  std::uint32_t number = 0;
  rank from;

  friend bool operator==(const window_written&, const window_written&) = default;
};

using rank_actor =
    caf::typed_actor<TROUPE_HANDLES(operation_requested), TROUPE_HANDLES(collective_ended),
                     TROUPE_HANDLES(failure_noticed), TROUPE_HANDLES(transfer_unmatched),
                     TROUPE_HANDLES(peer_ended), TROUPE_HANDLES(peer_connected),
                     TROUPE_HANDLES(abort_requested), TROUPE_HANDLES(finalize_requested),
                     TROUPE_HANDLES(window_open_request), TROUPE_HANDLES(window_close_request),
                     TROUPE_HANDLES(window_written), TROUPE_HANDLES(promise_ended),
                     TROUPE_HANDLES(membership_heard), TROUPE_HANDLES(exit_seen),
                     TROUPE_HANDLES(reconfigure_requested), TROUPE_HANDLES(invitation_requested)>;

}  // namespace troupe::actors

TROUPE_LOCAL_MESSAGE(troupe::actors::operation_requested)
TROUPE_LOCAL_MESSAGE(troupe::actors::collective_ended)
TROUPE_LOCAL_MESSAGE(troupe::actors::promise_ended)
TROUPE_LOCAL_MESSAGE(troupe::actors::membership_heard)
TROUPE_LOCAL_MESSAGE(troupe::actors::exit_seen)
TROUPE_LOCAL_MESSAGE(troupe::actors::reconfigure_requested)
TROUPE_LOCAL_MESSAGE(troupe::actors::invitation_requested)
TROUPE_LOCAL_MESSAGE(troupe::actors::failure_noticed)
TROUPE_LOCAL_MESSAGE(troupe::actors::transfer_unmatched)
TROUPE_LOCAL_MESSAGE(troupe::actors::peer_ended)
TROUPE_LOCAL_MESSAGE(troupe::actors::peer_connected)
TROUPE_LOCAL_MESSAGE(troupe::actors::abort_requested)
TROUPE_LOCAL_MESSAGE(troupe::actors::finalize_requested)
TROUPE_LOCAL_MESSAGE(troupe::actors::window_open_request)
TROUPE_LOCAL_MESSAGE(troupe::actors::window_close_request)
TROUPE_LOCAL_MESSAGE(troupe::actors::window_written)
