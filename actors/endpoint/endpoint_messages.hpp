#pragma once

#include <cstdint>
#include <memory>

#include "actors/caf_compat.hpp"
#include "actors/qp_group/qp_group_messages.hpp"
#include "actors/rank/epoch_board.hpp"
#include "actors/rank/membership.hpp"
#include "actors/rank/rank_messages.hpp"
#include "actors/ticket.hpp"
#include "actors/trace/flight_board.hpp"

namespace troupe::actors {

/// What a communicator's handle and its rank actor share.
struct communicator_seat {
  rank_actor member{};
  communicator_id id = {};
  bool tolerant = false;  ///< it goes on without members that end
  std::shared_ptr<const seated_epoch> first = nullptr;
  std::shared_ptr<epoch_board> board = nullptr;
  std::shared_ptr<communicator_progress> progress = nullptr;
};

/// How a rank comes into a communicator that has begun.
struct coming_in {
  std::uint64_t token = 0;
  rank contact;
  ticket_handle<communicator_seat> answer;  ///< given when it is in, or cannot be
};

/// Join the job; answered with the seat in the world communicator.
struct join_requested {
  ticket_handle<communicator_seat> answer;

  friend bool operator==(const join_requested&, const join_requested&) = default;
};

/// Bootstrap is done; null: well.
struct join_ended {
  std::shared_ptr<const failure> why;

  friend bool operator==(const join_ended&, const join_ended&) = default;
};

/// Make the rank actor of a communicator that its members agreed on.
struct communicator_requested {
  communicator_id id;
  rank self;
  std::shared_ptr<const membership> members;
  bool tolerant = false;
  ticket_handle<communicator_seat> answer;

  friend bool operator==(const communicator_requested&, const communicator_requested&) = default;
};

/// The handle of a communicator is gone.
struct communicator_dropped {
  communicator_id id;

  friend bool operator==(const communicator_dropped&, const communicator_dropped&) = default;
};

/// Connection `connection` is lane `lane` of the link to `peer`; it waits in the lane shelf.
struct lane_handed {
  std::uint64_t connection = 0;
  rank peer;
  std::uint8_t lane = 0;

  friend bool operator==(const lane_handed&, const lane_handed&) = default;
};

/// No link to `peer` can be made, or its process ended.
struct peer_failed {
  rank peer;
  std::shared_ptr<const failure> why;

  friend bool operator==(const peer_failed&, const peer_failed&) = default;
};

/// The process of world rank `peer` ended: whoever started it saw so.
struct process_ended {
  rank peer;

  friend bool operator==(const process_ended&, const process_ended&) = default;
};

/// A link actor for `peer` was spawned: supervise it.
struct link_spawned {
  rank peer;

  friend bool operator==(const link_spawned&, const link_spawned&) = default;
};

/// The first lane of the link to `peer` opened.
struct link_opened {
  rank peer;

  friend bool operator==(const link_opened&, const link_opened&) = default;
};

/// The link to `peer` is gone; `orderly`: one side said good-bye before.
struct link_closed {
  rank peer;
  bool orderly = false;
  std::shared_ptr<const failure> why;

  friend bool operator==(const link_closed&, const link_closed&) = default;
};

/// The peer handled everything up to our good-bye.
struct link_left {
  rank peer;

  friend bool operator==(const link_left&, const link_left&) = default;
};

/// End the endpoint in good order; answered when all actors were told to stop.
struct shut_down {
  ticket_handle<done_value> answer;

  friend bool operator==(const shut_down&, const shut_down&) = default;
};

using endpoint_actor =
    caf::typed_actor<TROUPE_HANDLES(join_requested), TROUPE_HANDLES(join_ended),
                     TROUPE_HANDLES(communicator_requested), TROUPE_HANDLES(communicator_dropped),
                     TROUPE_HANDLES(lane_handed), TROUPE_HANDLES(peer_failed),
                     TROUPE_HANDLES(process_ended), TROUPE_HANDLES(link_spawned),
                     TROUPE_HANDLES(link_opened), TROUPE_HANDLES(link_closed),
                     TROUPE_HANDLES(link_left), TROUPE_HANDLES(shut_down)>;

}  // namespace troupe::actors

TROUPE_LOCAL_MESSAGE(troupe::actors::join_requested)
TROUPE_LOCAL_MESSAGE(troupe::actors::join_ended)
TROUPE_LOCAL_MESSAGE(troupe::actors::communicator_requested)
TROUPE_LOCAL_MESSAGE(troupe::actors::communicator_dropped)
TROUPE_LOCAL_MESSAGE(troupe::actors::lane_handed)
TROUPE_LOCAL_MESSAGE(troupe::actors::peer_failed)
TROUPE_LOCAL_MESSAGE(troupe::actors::process_ended)
TROUPE_LOCAL_MESSAGE(troupe::actors::link_spawned)
TROUPE_LOCAL_MESSAGE(troupe::actors::link_opened)
TROUPE_LOCAL_MESSAGE(troupe::actors::link_closed)
TROUPE_LOCAL_MESSAGE(troupe::actors::link_left)
TROUPE_LOCAL_MESSAGE(troupe::actors::shut_down)
