#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "actors/caf_compat.hpp"
#include "actors/collective/collective_messages.hpp"
#include "actors/rank/failure_notice_wire.hpp"
#include "runtime/buffer_view.hpp"
#include "runtime/error.hpp"
#include "runtime/instant.hpp"
#include "runtime/operation.hpp"

namespace troupe::actors {

/// Send `source` to the peer's accept of the same id, or into `window` if the id is a window put's;
/// answered by one `transfer_ended`.
struct put_request {
  transfer_id id;
  operation_signature signature;
  buffer_view source;
  std::uint64_t token = 0;  ///< `transfer_token` of the operation and step
  remote_region window{};

  friend bool operator==(const put_request&, const put_request&) = default;
};

/// Receive the peer's put of the same id into `target`; answered by one `transfer_ended`.
struct accept_request {
  transfer_id id;
  operation_signature signature;
  buffer_view target;
  std::uint64_t token = 0;

  friend bool operator==(const accept_request&, const accept_request&) = default;
};

/// Both with the same peer, as one message: most steps of most algorithms send and receive at once.
struct exchange_request {
  put_request put;
  accept_request accept;

  friend bool operator==(const exchange_request&, const exchange_request&) = default;
};

/// Forget the transfers of one operation; answered by `cancel_ended` when no lane reads or writes
/// its buffers any more.
struct cancel_request {
  communicator_id communicator;
  troupe::epoch epoch;
  operation_number operation;
  operation_slot slot;

  friend bool operator==(const cancel_request&, const cancel_request&) = default;
};

/// Send a notice to the peer's endpoint.
struct notice_request {
  std::shared_ptr<const notice_frame> frame;

  friend bool operator==(const notice_request&, const notice_request&) = default;
};

/// Send a frame of the view change to the peer's member of the same communicator. Lost with the
/// link, and where the link is too far behind to take it.
struct frame_request {
  std::shared_ptr<const std::vector<std::byte>> frame;

  friend bool operator==(const frame_request&, const frame_request&) = default;
};

/// Nothing of `communicator` below `epoch` moves any more.
struct epoch_raised {
  communicator_id communicator;
  troupe::epoch epoch;

  friend bool operator==(const epoch_raised&, const epoch_raised&) = default;
};

/// Report transfers that match nothing and are older than this.
struct unmatched_request {
  instant older_than = never;

  friend bool operator==(const unmatched_request&, const unmatched_request&) = default;
};

/// Connection `connection` is lane `lane` of this link now; it waits in the endpoint's lane shelf.
struct lane_given {
  std::uint64_t connection = 0;
  std::uint8_t lane = 0;

  friend bool operator==(const lane_given&, const lane_given&) = default;
};

/// The peer cannot be reached, or its process ended.
struct link_doomed {
  std::shared_ptr<const failure> why;

  friend bool operator==(const link_doomed&, const link_doomed&) = default;
};

/// The tier grants `bytes` more in flight.
struct lease_granted {
  std::uint64_t bytes = 0;

  friend bool operator==(const lease_granted&, const lease_granted&) = default;
};

/// Say good-bye to the peer; the endpoint hears `link_left`.
struct leave_request {
  friend bool operator==(const leave_request&, const leave_request&) = default;
};

using qp_group_actor = caf::typed_actor<
    TROUPE_HANDLES(put_request), TROUPE_HANDLES(accept_request), TROUPE_HANDLES(exchange_request),
    TROUPE_HANDLES(cancel_request), TROUPE_HANDLES(notice_request), TROUPE_HANDLES(frame_request),
    TROUPE_HANDLES(epoch_raised), TROUPE_HANDLES(unmatched_request), TROUPE_HANDLES(lane_given),
    TROUPE_HANDLES(link_doomed), TROUPE_HANDLES(lease_granted), TROUPE_HANDLES(leave_request)>;

}  // namespace troupe::actors

TROUPE_LOCAL_MESSAGE(troupe::actors::put_request)
TROUPE_LOCAL_MESSAGE(troupe::actors::accept_request)
TROUPE_LOCAL_MESSAGE(troupe::actors::exchange_request)
TROUPE_LOCAL_MESSAGE(troupe::actors::cancel_request)
TROUPE_LOCAL_MESSAGE(troupe::actors::notice_request)
TROUPE_LOCAL_MESSAGE(troupe::actors::frame_request)
TROUPE_LOCAL_MESSAGE(troupe::actors::epoch_raised)
TROUPE_LOCAL_MESSAGE(troupe::actors::unmatched_request)
TROUPE_LOCAL_MESSAGE(troupe::actors::lane_given)
TROUPE_LOCAL_MESSAGE(troupe::actors::link_doomed)
TROUPE_LOCAL_MESSAGE(troupe::actors::lease_granted)
TROUPE_LOCAL_MESSAGE(troupe::actors::leave_request)
