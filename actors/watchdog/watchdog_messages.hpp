#pragma once

#include "actors/caf_compat.hpp"

namespace troupe::actors {

/// Look at every running operation and every link now. The watchdog's timer sends it to itself.
struct watchdog_look {
  friend bool operator==(const watchdog_look&, const watchdog_look&) = default;
};

using watchdog_actor = caf::typed_actor<TROUPE_HANDLES(watchdog_look)>;

}  // namespace troupe::actors

TROUPE_LOCAL_MESSAGE(troupe::actors::watchdog_look)
