#pragma once

#include "config/options.hpp"
#include "net/link/link_options.hpp"
#include "runtime/lane.hpp"
#include "runtime/place.hpp"
#include "runtime/strong_types.hpp"

namespace troupe::actors {

/// What a link to `peer`, of that distance and over lanes of that kind, takes from the
/// configuration. Its rings are the owner's to add.
net::link_options make_link_options(const config::options& all, rank peer, tier distance,
                                    lane_kind lanes);

}  // namespace troupe::actors
