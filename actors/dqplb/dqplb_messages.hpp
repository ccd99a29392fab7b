#pragma once

#include <cstdint>

#include "actors/caf_compat.hpp"
#include "runtime/strong_types.hpp"

namespace troupe::actors {

/// The link to world rank `peer` wants `bytes` more in flight; answered by `lease_granted`, now or
/// when others return theirs.
struct lease_request {
  rank peer;
  std::uint64_t bytes = 0;

  friend bool operator==(const lease_request&, const lease_request&) = default;
};

struct lease_return {
  rank peer;
  std::uint64_t bytes = 0;

  friend bool operator==(const lease_return&, const lease_return&) = default;
};

/// The link to `peer` is gone with all it held.
struct lease_holder_gone {
  rank peer;

  friend bool operator==(const lease_holder_gone&, const lease_holder_gone&) = default;
};

using dqplb_actor = caf::typed_actor<TROUPE_HANDLES(lease_request), TROUPE_HANDLES(lease_return),
                                     TROUPE_HANDLES(lease_holder_gone)>;

}  // namespace troupe::actors

TROUPE_LOCAL_MESSAGE(troupe::actors::lease_request)
TROUPE_LOCAL_MESSAGE(troupe::actors::lease_return)
TROUPE_LOCAL_MESSAGE(troupe::actors::lease_holder_gone)
