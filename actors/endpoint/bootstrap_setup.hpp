#pragma once

#include "actors/endpoint/endpoint_context.hpp"
#include "net/bootstrap/bootstrap_options.hpp"

namespace troupe::actors {

/// What bootstrap needs, from the configuration and from who this endpoint is.
net::bootstrap_options make_bootstrap_options(const config::options& options,
                                              const endpoint_identity& who);

}  // namespace troupe::actors
