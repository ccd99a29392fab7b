#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "actors/caf_compat.hpp"
#include "runtime/strong_types.hpp"

namespace troupe::actors {

/// Begin to join the job.
struct join_begin {
  friend bool operator==(const join_begin&, const join_begin&) = default;
};

/// Open a link to world rank `peer`.
struct link_request {
  rank peer;

  friend bool operator==(const link_request&, const link_request&) = default;
};

/// A lane of the link to world rank `peer` died, the link did not: make another.
struct lane_request {
  rank peer;
  std::uint8_t lane = 0;

  friend bool operator==(const lane_request&, const lane_request&) = default;
};

/// The link to world rank `peer` is gone.
struct link_forgotten {
  rank peer;

  friend bool operator==(const link_forgotten&, const link_forgotten&) = default;
};

/// World rank `peer` ended, as its link saw it.
struct death_seen {
  rank peer;

  friend bool operator==(const death_seen&, const death_seen&) = default;
};

/// World rank `peer` says over its link where ranks are reached.
struct addresses_heard {
  rank peer;
  std::shared_ptr<const std::vector<std::byte>> frame;

  friend bool operator==(const addresses_heard&, const addresses_heard&) = default;
};

/// Tell the ring that we end in good order.
struct bootstrap_leave {
  friend bool operator==(const bootstrap_leave&, const bootstrap_leave&) = default;
};

using bootstrap_actor =
    caf::typed_actor<TROUPE_HANDLES(join_begin), TROUPE_HANDLES(link_request),
                     TROUPE_HANDLES(lane_request), TROUPE_HANDLES(link_forgotten),
                     TROUPE_HANDLES(death_seen), TROUPE_HANDLES(addresses_heard),
                     TROUPE_HANDLES(bootstrap_leave)>;

}  // namespace troupe::actors

TROUPE_LOCAL_MESSAGE(troupe::actors::join_begin)
TROUPE_LOCAL_MESSAGE(troupe::actors::link_request)
TROUPE_LOCAL_MESSAGE(troupe::actors::lane_request)
TROUPE_LOCAL_MESSAGE(troupe::actors::link_forgotten)
TROUPE_LOCAL_MESSAGE(troupe::actors::death_seen)
TROUPE_LOCAL_MESSAGE(troupe::actors::addresses_heard)
TROUPE_LOCAL_MESSAGE(troupe::actors::bootstrap_leave)
