#pragma once

#include "actors/caf_compat.hpp"

namespace troupe::actors {

/// Take a sample now. The collector's timer sends it to itself.
struct collector_sample {
  friend bool operator==(const collector_sample&, const collector_sample&) = default;
};

using collector_actor = caf::typed_actor<TROUPE_HANDLES(collector_sample)>;

}  // namespace troupe::actors

TROUPE_LOCAL_MESSAGE(troupe::actors::collector_sample)
